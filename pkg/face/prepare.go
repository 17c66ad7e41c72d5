package face

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/file"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/job"
	"visavis.dev/pkg/picture"
	"visavis.dev/pkg/tenant"
)

// input is what a job of kind job.AvatarPrepare prepares.
type input struct {
	Avatar id.Avatar `json:"avatarId"`
}

// Why a preparation fails, as the job's error code.
const (
	// AvatarDeleted says that the face was deleted meanwhile.
	AvatarDeleted = "avatar_deleted"
	// PictureBroken says that the picture cannot be decoded.
	PictureBroken = "picture_broken"
	// PictureUnreadable says that the picture's file could not be read, again
	// and again.
	PictureUnreadable = "picture_unreadable"
)

// maxAttempts is how often reading the file is tried. It is less than the
// failures after which the runner gives a job up: then the face would be said
// to be in preparation for ever.
const maxAttempts = 5

// Preparer makes the steps of jobs of kind job.AvatarPrepare.
type Preparer struct{ Files *file.Store }

// Step prepares a face. It is one piece of work: a picture of at most four
// megapixels, cut to a few sizes.
func (p *Preparer) Step(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	var in input
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return 0, err
	}
	f, err := lock(ctx, tx, in.Avatar)
	if err != nil {
		return 0, err
	}
	if f == nil || f.Job != j.ID {
		end(j, AvatarDeleted)
		return 0, nil
	}
	a, err := avatar.Peek(ctx, tx, in.Avatar)
	if errors.Is(err, avatar.ErrUnknown) || errors.Is(err, avatar.ErrGone) {
		end(j, AvatarDeleted)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	images, failure, err := p.images(ctx, tx.Org, a, j.Attempts)
	if err != nil {
		return 0, err
	}
	if failure != "" {
		end(j, failure)
		return 0, save(ctx, tx, in.Avatar, Failed, now, nil)
	}
	files := make([]id.File, len(images))
	for i, image := range images {
		files[i] = image.File
	}
	if err := p.Files.Keep(ctx, tx, files...); err != nil {
		return 0, err
	}
	end(j, "")
	return 0, save(ctx, tx, in.Avatar, Ready, now, images)
}

// end ends a job, well unless there is a failure.
func end(j *job.Job, failure string) {
	j.State, j.ErrorCode, j.Done, j.Total = job.Succeeded, failure, 1, 1
	if failure != "" {
		j.State, j.Done = job.Failed, 0
	}
}

func save(ctx context.Context, tx *tenant.Tx, a id.Avatar, s State, at time.Time, images []Image) error {
	if images == nil {
		images = []Image{}
	}
	tx.Touch("face", a)
	_, err := tx.Exec(ctx, `
		UPDATE face SET state = $3, ready_at = $4, images = $5 WHERE org_id = $1 AND avatar_id = $2`, tx.Org, a, s, at, images)
	return err
}

// images makes the pictures and stores them; nothing refers to them yet. A
// failure is for good, an error is worth another try.
func (p *Preparer) images(ctx context.Context, org id.Org, a avatar.Avatar, attempts int64) (made []Image, failure string, err error) {
	data, err := p.Files.Read(ctx, org, a.Picture)
	if err != nil {
		if attempts >= maxAttempts {
			return nil, PictureUnreadable, nil
		}
		return nil, "", err
	}
	whole, err := picture.Decode(data)
	if err != nil {
		return nil, PictureBroken, nil
	}
	for _, size := range Sizes() {
		if n := len(made); n > 0 && made[n-1].Height < made[n-1].Size {
			break // the last one is as large as the original
		}
		cut := whole.High(size)
		contentType, data, err := cut.Encode()
		if err != nil {
			return nil, PictureBroken, nil
		}
		stored, err := p.Files.Put(ctx, org, contentType, data)
		if err != nil {
			return nil, "", err
		}
		b := cut.Image.Bounds()
		made = append(made, Image{Size: size, Width: b.Dx(), Height: b.Dy(), ContentType: contentType, Bytes: len(data), File: stored})
	}
	return made, "", nil
}
