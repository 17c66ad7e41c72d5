package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// fenceOff keeps the organization's writers waiting while the last of it is copied, and
// changes the route. It takes Hold at most: then, or when anything fails, the source opens
// again as if nothing had been.
func (r *run) fenceOff(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if !r.at.Large {
		if err := r.clear(ctx); err != nil {
			return err
		}
	}
	began := time.Now()
	held, cancel := context.WithTimeout(ctx, r.Hold)
	defer cancel()
	err := r.shut(held)
	if err == nil {
		err = r.complete(held)
	}
	if err != nil {
		err = errors.Join(err, r.reopen(ctx))
	} else if err = r.flip(held); err == nil && r.move.Phase == directory.Flipped {
		r.Log.InfoContext(ctx, "an organization moved", "organization", r.move.Org.String(),
			"from", r.move.From, "to", r.move.To, "held", time.Since(began))
		return nil
	}
	if errors.Is(held.Err(), context.DeadlineExceeded) {
		// What is too much for the time behind the fence is done before it.
		next := phaseCapture
		if r.at.Large {
			next = phaseCatchUp
		}
		r.enter(next)
		return fmt.Errorf("it was fenced off for more than %v: %w", r.Hold, err)
	}
	return err
}

// shut fences the source off and shows the destination the epoch.
func (r *run) shut(ctx context.Context) error {
	open := r.fence
	r.fence = tenant.Fence{Epoch: open.Epoch + 1, State: tenant.Fenced}
	if err := r.turn(ctx, open, r.fence); err != nil {
		return err
	}
	return r.expect(ctx)
}

// reopen opens the source again, unless another did or has the move.
func (r *run) reopen(ctx context.Context) error {
	ctx, cancel := quick(ctx)
	defer cancel()
	_, err := r.Tenants.Turn(ctx, r.move.From, r.move.Org, r.fence, tenant.Fence{Epoch: r.fence.Epoch, State: r.openState()})
	return err
}

// complete copies what the destination lacks.
func (r *run) complete(ctx context.Context) error {
	if !r.at.Large {
		return r.carryAll(ctx)
	}
	for {
		n, err := r.drain(ctx, notesAtOnce*r.Page)
		if err != nil {
			return err
		}
		if n == 0 {
			return r.recount(ctx)
		}
	}
}

// countable is how many rows can be counted while writers wait. More than these were
// compared one by one, and so was each that was touched since.
const countable = 2_000_000

// recount compares how many rows there are.
func (r *run) recount(ctx context.Context) error {
	if r.at.Rows > countable {
		return nil
	}
	var here, there []int64
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { here, err = r.countHere(ctx, all); return err })
	group.Go(func() (err error) { there, err = r.countThere(ctx, all); return err })
	if err := group.Wait(); err != nil {
		return err
	}
	if slices.Equal(here, there) {
		return nil
	}
	r.at.Verified = false
	r.enter(phaseCatchUp)
	for i, t := range r.layout {
		if here[i] != there[i] {
			return fmt.Errorf("of %s there are %d rows on %s and %d on %s", t.Name, here[i], r.move.From, there[i], r.move.To)
		}
	}
	return nil
}

// flip changes the route. Where it is not known whether it did, the route itself says so,
// once the attempt can do nothing any more; where that cannot be asked either, the source
// stays fenced off until somebody can.
func (r *run) flip(ctx context.Context) error {
	err := r.Directory.FlipMove(ctx, r.move, r.owner, r.fence.Epoch+1)
	if err == nil {
		r.at = cursor{Rows: r.at.Rows, Large: r.at.Large, Repaired: r.at.Repaired}
		r.enter(directory.Flipped)
		return nil
	}
	ask, cancel := quick(ctx)
	defer cancel()
	if _, asked := r.Directory.SaveMove(ask, r.move, r.owner); asked != nil {
		return errors.Join(err, asked) // whoever has it now decides
	}
	o, asked := r.Directory.Organization(ask, r.move.Org)
	switch {
	case asked != nil:
		return errors.Join(err, asked)
	case o.Shard == r.move.To:
		r.enter(directory.Flipped)
		return nil
	}
	return errors.Join(err, r.reopen(ctx))
}
