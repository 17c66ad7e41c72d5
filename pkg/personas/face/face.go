// Package face makes an organization's own faces ready to be worn in sessions:
// it cuts each picture to the sizes that clients load. A library face is drawn
// in any size and is always ready.
package face

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// State is how far a face is.
type State string

// The states. A failed face is prepared again when somebody puts it on anew.
const (
	Preparing State = "preparing"
	Ready     State = "ready"
	Failed    State = "failed"
)

// Face is an own face that somebody wore at some time.
type Face struct {
	Avatar id.Avatar
	State  State
	// ReadyAt is when it was ready; while it is being prepared, when that is
	// expected.
	ReadyAt time.Time
	// Job prepares it, or did.
	Job id.Job
	// Images are the pictures that clients load, smallest first.
	Images []Image
}

// Image is a picture of a face.
type Image struct {
	// Size is what it is asked for by: one of Sizes.
	Size int `json:"size"`
	// Width and Height are in pixels. A picture is never made larger than the
	// original, so Height can be less than Size.
	Width       int     `json:"width"`
	Height      int     `json:"height"`
	ContentType string  `json:"contentType"`
	Bytes       int     `json:"bytes"`
	File        id.File `json:"file"`
}

// Sizes are the heights that pictures are cut to, in pixels.
func Sizes() []int { return []int{256, 512, 1024} }

// Image finds the picture of a size.
func (f *Face) Image(size int) (Image, bool) {
	for _, i := range f.Images {
		if i.Size == size {
			return i, true
		}
	}
	return Image{}, false
}

// Wait is how long a face that is being prepared is expected to take still.
// One that is late is promised soon, never in the past.
func Wait(readyAt, now time.Time) time.Duration { return max(readyAt.Sub(now), soon) }

const (
	// takes is the estimate for a preparation with what waits before it.
	takes = 60 * time.Second
	// soon is the least that is promised.
	soon = 5 * time.Second
)

const columns = `avatar_id, state, ready_at, job_id, images`

// Get finds what is known of an own face's preparation; nil when nobody wore
// it yet.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, a id.Avatar) (*Face, error) {
	var found []Face
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Face])
			return err
		}, `SELECT `+columns+` FROM face WHERE org_id = $1 AND avatar_id = $2`, org, a)
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Find is Get in a transaction; nobody else changes what is found until the
// commit.
func Find(ctx context.Context, tx *tenant.Tx, a id.Avatar) (*Face, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM face WHERE org_id = $1 AND avatar_id = $2 FOR UPDATE`, tx.Org, a)
	if err != nil {
		return nil, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Face])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &f, err
}

// Prepare sees to it that a face that somebody put on gets ready: it queues a
// job unless the face is ready, or one is under way. by asks for it.
func Prepare(ctx context.Context, tx *tenant.Tx, a avatar.Avatar, by string, now time.Time) error {
	if a.Kind == avatar.Builtin {
		return nil
	}
	before, err := Find(ctx, tx, a.ID)
	if err != nil || before != nil && before.State != Failed {
		return err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.AvatarPrepare, ResourceKind: "avatar", ResourceID: a.ID.String(),
		Scope: scope.AvatarsRead, CreatedBy: by, CreatedAt: now,
	}, input{a.ID})
	if err != nil {
		return err
	}
	tx.Touch("face", a.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO face (org_id, avatar_id, state, ready_at, job_id, images) VALUES ($1, $2, $3, $4, $5, '[]')
		ON CONFLICT (org_id, avatar_id) DO UPDATE SET state = $3, ready_at = $4, job_id = $5, images = '[]'`,
		tx.Org, a.ID, Preparing, now.Add(takes), j.ID)
	return err
}

// Forget removes what was prepared of a face that is deleted.
func Forget(ctx context.Context, tx *tenant.Tx, files *file.Store, a id.Avatar) error {
	f, err := Find(ctx, tx, a)
	if err != nil || f == nil {
		return err
	}
	kept := make([]id.File, len(f.Images))
	for i, image := range f.Images {
		kept[i] = image.File
	}
	if err := files.Discard(ctx, tx, kept...); err != nil {
		return err
	}
	tx.Touch("face", a)
	_, err = tx.Exec(ctx, `DELETE FROM face WHERE org_id = $1 AND avatar_id = $2`, tx.Org, a)
	return err
}

// StateOf is how far a face is that somebody wears.
func StateOf(ctx context.Context, tx *tenant.Tx, a avatar.Avatar) (State, error) {
	if a.Kind == avatar.Builtin {
		return Ready, nil
	}
	f, err := Find(ctx, tx, a.ID)
	if err != nil || f == nil {
		return Preparing, err
	}
	return f.State, nil
}
