package move

import (
	"context"
	"errors"

	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// errTaken says that the source's fence is not as this process left it: the move is
// another's by now, or the organization is being deleted.
var errTaken = errors.New("the organization's fence was changed by somebody else")

// resume makes the move this process's own. Where the organization lives is what the route
// says, and nothing else.
func (r *run) resume(ctx context.Context) error {
	if r.move.Cancelled {
		r.cancel()
	}
	if flipped(r.move.Phase) || r.move.Phase == directory.FirstPhase {
		return nil
	}
	o, err := r.Directory.Organization(ctx, r.move.Org)
	if err != nil {
		return err
	}
	if o.Shard == r.move.To {
		r.enter(directory.Flipped)
		return r.save(ctx)
	}
	return r.takeOver(ctx)
}

// takeOver makes the source's epoch grow, so that nothing counts any more that another
// process still sends, and opens the source where that process fenced it off. The
// destination learns of the epoch.
func (r *run) takeOver(ctx context.Context) error {
	f, err := r.Tenants.Fence(ctx, r.move.From, r.move.Org)
	if err != nil {
		return err
	}
	next := tenant.Fence{Epoch: f.Epoch + 1, State: f.State}
	switch f.State {
	case tenant.Open, tenant.Capture:
	case tenant.Fenced:
		next.State = r.openState()
	case tenant.Deleting: // from before the move began to
		if r.move.Phase != phaseUndo {
			return errTaken
		}
		next = f
	default:
		return errTaken
	}
	if err := r.turn(ctx, f, next); err != nil {
		return err
	}
	err = r.expect(ctx)
	if errors.Is(err, directory.ErrUnknown) && r.move.Phase == phaseUndo {
		err = nil // the destination is not there any more
	}
	return err
}

// openState is what the source is while it is not fenced off.
func (r *run) openState() tenant.State {
	if r.at.Large {
		return tenant.Capture
	}
	return tenant.Open
}

// turn changes the source's fence.
func (r *run) turn(ctx context.Context, from, to tenant.Fence) error {
	done, err := r.Tenants.Turn(ctx, r.move.From, r.move.Org, from, to)
	if err == nil && !done {
		err = errTaken
	}
	if err == nil {
		r.fence = to
	}
	return err
}

// expect shows the destination the source's epoch, without which it takes no rows.
func (r *run) expect(ctx context.Context) error {
	at := tenant.Fence{Epoch: r.fence.Epoch, State: tenant.Moved, MovedTo: r.move.From}
	done, err := r.Tenants.Expect(ctx, r.move.To, r.move.Org, at)
	if err == nil && !done {
		err = errTaken
	}
	return err
}
