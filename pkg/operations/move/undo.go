package move

import (
	"context"
	"errors"

	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// undo leaves everything as it was, but for the epoch: the source is open, and the
// destination has nothing.
func (r *run) undo(ctx context.Context) error {
	if r.fence.State == tenant.Capture {
		if err := r.turn(ctx, r.fence, tenant.Fence{Epoch: r.fence.Epoch, State: tenant.Open}); err != nil {
			return err
		}
	}
	if err := r.empty(ctx); err != nil && !errors.Is(err, directory.ErrUnknown) {
		return err
	}
	if err := r.Directory.SetEpoch(ctx, r.move.Org, r.move.From, r.fence.Epoch); err != nil {
		return err
	}
	if r.move.Cancelled || r.at.Refusal == "" {
		r.end(directory.Cancelled)
	} else {
		r.end(directory.Refused)
	}
	return nil
}

// empty deletes the journal, and what the destination has.
func (r *run) empty(ctx context.Context) error {
	db, err := r.Tenants.Shard(ctx, r.move.From)
	if err != nil {
		return err
	}
	for n := int64(1); n > 0; {
		tag, err := db.Exec(ctx, `
			DELETE FROM move_dirty WHERE org_id = $1 AND (table_name, pk) IN (
				SELECT table_name, pk FROM move_dirty WHERE org_id = $1 LIMIT $2)`, r.move.Org, r.Page)
		if err != nil {
			return err
		}
		n = tag.RowsAffected()
	}
	if r.to, err = r.Tenants.Shard(ctx, r.move.To); err != nil {
		return err
	}
	if r.layout, err = readLayout(ctx, r.to); err != nil {
		return err
	}
	return r.clear(ctx)
}
