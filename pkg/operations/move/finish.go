package move

import (
	"context"
	"errors"

	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// openDestination opens the destination, as the route says, and has the source send everybody on.
func (r *run) openDestination(ctx context.Context) error {
	o, err := r.Directory.Organization(ctx, r.move.Org)
	if err != nil {
		return err
	}
	if err := r.change(ctx, r.move.To, tenant.Moved, tenant.Fence{Epoch: o.Epoch, State: tenant.Open}); err != nil {
		return err
	}
	if err := r.change(ctx, r.move.From, tenant.Fenced, tenant.Fence{Epoch: o.Epoch, State: tenant.Moved, MovedTo: r.move.To}); err != nil {
		return err
	}
	r.Directory.Forget(r.move.Org)
	r.enter(phaseKeep)
	r.move.DueAt = new(r.now().Add(max(r.Keep, 0)))
	return nil
}

// change changes a fence that is in a state still.
func (r *run) change(ctx context.Context, shard string, from tenant.State, to tenant.Fence) error {
	f, err := r.Tenants.Fence(ctx, shard, r.move.Org)
	if err != nil || f.State != from || f.Epoch >= to.Epoch {
		return err
	}
	done, err := r.Tenants.Turn(ctx, shard, r.move.Org, f, to)
	if err == nil && !done {
		err = errTaken
	}
	return err
}

// keep ends the time in which the source has what it had.
func (r *run) keep(context.Context) error {
	r.enter(phaseDelete)
	return nil
}

// remove deletes what the organization left behind, some rows at a time. The sign to where
// it lives stays.
func (r *run) remove(ctx context.Context) error {
	for r.at.Table < len(tenant.Tables) {
		n, err := r.Tenants.RemoveLeft(ctx, r.move.From, r.move.Org, tenant.Tables[r.at.Table], r.Page)
		if errors.Is(err, directory.ErrUnknown) {
			break // the shard is not there any more
		}
		if err != nil {
			return err
		}
		if n < r.Page {
			r.at.Table++
		}
		if n > 0 {
			return r.throttle(ctx, n)
		}
	}
	r.end(directory.Moved)
	return nil
}
