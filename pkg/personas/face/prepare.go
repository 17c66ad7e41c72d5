package face

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/picture"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
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
	// PictureUnreadable says that the picture could not be read, or what was
	// cut from it not be kept, in several tries.
	PictureUnreadable = "picture_unreadable"
)

// Preparer makes the jobs of kind job.AvatarPrepare.
type Preparer struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Library *avatar.Library
}

// Work is what its jobs do.
func (p *Preparer) Work() job.Work { return job.Work{Prepare: p.prepare, GiveUp: giveUp} }

// prepare cuts the picture. Files that are not kept in the end are swept.
func (p *Preparer) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var in input
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	a, err := avatar.Get(ctx, p.Tenants, p.Library, j.Org, in.Avatar)
	if errdefs.IsAbsent(err, avatar.Noun) {
		return p.finish(in.Avatar, nil, AvatarDeleted), nil
	}
	if err != nil {
		return nil, err
	}
	data, err := p.Files.Read(ctx, j.Org, a.Picture)
	if err != nil {
		return nil, err
	}
	if whole, err := picture.Decode(data); err == nil {
		if !a.Looked() { // it was made before landmarks were looked for
			a.Mark(whole.Image)
			if err := avatar.SaveMarks(ctx, p.Tenants, j.Org, a); err != nil {
				return nil, err
			}
		}
		images, err := p.cut(ctx, j.Org, whole)
		return p.finish(in.Avatar, images, ""), err
	}
	// Another try would find the same: it is the face that fails, not the step.
	return p.finish(in.Avatar, nil, PictureBroken), nil
}

// cut makes the pictures and stores them; nothing refers to them yet.
func (p *Preparer) cut(ctx context.Context, org id.Org, whole *picture.Portrait) ([]Image, error) {
	images := []Image{}
	for _, size := range Sizes() {
		if n := len(images); n > 0 && images[n-1].Height == whole.Image.Bounds().Dy() {
			break // the last one is as large as the original
		}
		image := whole.High(size)
		contentType, data, err := image.Encode()
		if err != nil {
			return nil, err
		}
		stored, err := p.Files.Put(ctx, org, contentType, data)
		if err != nil {
			return nil, err
		}
		b := image.Image.Bounds()
		images = append(images, Image{Size: size, Width: b.Dx(), Height: b.Dy(), ContentType: contentType, Bytes: len(data), File: stored})
	}
	return images, nil
}

// finish is the step that commits what came of a preparation.
func (p *Preparer) finish(a id.Avatar, images []Image, failure string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		j.State, j.Done, j.Total = job.Succeeded, 1, 1
		f, err := Find(ctx, tx, a)
		switch {
		case err != nil:
			return 0, err
		case f == nil || f.Job != j.ID:
			// Deleted, perhaps while it was cut: what was stored is swept.
			failure = AvatarDeleted
		case failure == "":
			return 0, errors.Join(p.keep(ctx, tx, images), save(ctx, tx, a, Ready, now, images))
		default:
			err = save(ctx, tx, a, Failed, now, []Image{})
		}
		j.State, j.Done, j.ErrorCode = job.Failed, 0, failure
		return 0, err
	}
}

// giveUp leaves a face failed whose job could not be made.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	var in input
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return err
	}
	f, err := Find(ctx, tx, in.Avatar)
	if err != nil || f == nil || f.Job != j.ID {
		return err
	}
	j.ErrorCode = PictureUnreadable
	return save(ctx, tx, in.Avatar, Failed, now, []Image{})
}

func (p *Preparer) keep(ctx context.Context, tx *tenant.Tx, images []Image) error {
	files := make([]id.File, len(images))
	for i, image := range images {
		files[i] = image.File
	}
	return p.Files.Keep(ctx, tx, files...)
}

func save(ctx context.Context, tx *tenant.Tx, a id.Avatar, s State, at time.Time, images []Image) error {
	tx.Touch("face", a)
	_, err := tx.Exec(ctx, `
		UPDATE face SET state = $3, ready_at = $4, images = $5 WHERE org_id = $1 AND avatar_id = $2`, tx.Org, a, s, at, images)
	return err
}
