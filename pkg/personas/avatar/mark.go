package avatar

import (
	"context"
	"image"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/store/tenant"
)

// Looked says whether the landmarks of a face were looked for, or given.
func (a *Avatar) Looked() bool { return a.Landmarks != nil || a.Marked != "" }

// Mark looks for the landmarks of a face in its picture, unless they were given.
func (a *Avatar) Mark(picture image.Image) {
	if a.Landmarks != nil {
		a.Marked = landmark.Given
		return
	}
	a.Marked = landmark.None
	if marks, source, ok := landmark.Find(picture); ok && marks.Plausible() {
		a.Landmarks, a.Marked = &marks, source
	}
}

// SaveMarks keeps what Mark found of a face of which nobody had looked. What somebody gave
// or found meanwhile stays; of a face that is gone nothing is kept.
func SaveMarks(ctx context.Context, t *tenant.Tenants, org id.Org, a Avatar) error {
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		now, err := lock(ctx, tx, a.ID)
		if errdefs.IsAbsent(err, Noun) || err == nil && now.Looked() {
			return nil
		}
		if err != nil {
			return err
		}
		tx.Touch("avatar", a.ID)
		_, err = tx.Exec(ctx, `
			UPDATE avatar SET landmarks = $3, landmarks_source = $4 WHERE org_id = $1 AND id = $2`, org, a.ID, a.Landmarks, a.Marked)
		return err
	}, tenant.Idempotent(true))
}
