package delivery

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/hint"
)

// courier delivers for one shard. One goroutine, run, owns all of its state.
// Reading what is due, making attempts, writing results and renewing the lease
// happen beside it and report back over channels, so none of them waits for
// another.
type courier struct {
	Options
	shard   string
	db      *database.DB
	lanes   *lanes
	lease   lease
	metrics *shardMetrics

	endpoints map[id.Webhook]*endpoint
	// ready are the endpoints that could begin an attempt, in turn.
	ready []*endpoint
	// flying counts the attempts under way, and by the health of their
	// endpoints when they began.
	flying   int
	flyingBy [healths]int
	// leaving are lanes to be given back once nothing in them is under way.
	leaving map[int64]bool
	// places are as of the last renewal, and moving the webhooks to be taken to
	// another lane once nothing of them is under way.
	places places
	moving map[id.Webhook]bool
	// heads and numbering are the look's under way.
	heads     heads
	numbering event.Numbering
	// unwritten are outcomes that wait for the writer.
	unwritten []*outcome

	landed  chan *outcome
	polled  chan poll
	written chan written
	renewed chan renewal
	// polling, writing and renewing say that the goroutine is under way.
	polling, writing, renewing bool
	// finished are the deliveries whose outcome was written since the poll under
	// way began: it may have read them as they were before.
	finished map[id.Delivery]struct{}
	// warned is when it was told last that committed events have no place in their log.
	warned time.Time
	// rest is until when the database is left alone after it failed.
	rest time.Time
	// quiet says that the last poll found nothing; more that it left something
	// behind that there is room for.
	quiet, more bool
	pace        pace
	// hints is sent to where something may be due that was not.
	hints chan struct{}
}

func newCourier(o Options, m *shardMetrics, shard string, db *database.DB, l *lanes) *courier {
	return &courier{
		Options: o, shard: shard, db: db, lanes: l, metrics: m, numbering: event.Numbering{Tenants: o.Tenants, Shard: shard},
		endpoints: map[id.Webhook]*endpoint{}, leaving: map[int64]bool{}, finished: map[id.Delivery]struct{}{},
		landed: make(chan *outcome, o.InFlight), polled: make(chan poll, 1), written: make(chan written, 1), renewed: make(chan renewal, 1),
		pace: pace{poll: o.Poll, pause: o.Poll, about: o.Rarely}, hints: make(chan struct{}, 1),
	}
}

// run delivers until the context ends; then it lets the attempts under way
// end, writes their results and hands the lanes over.
func (c *courier) run(ctx context.Context) {
	// What is under way when the context ends is not interrupted by that.
	work := context.WithoutCancel(ctx)
	defer c.Hints.WatchShard(c.shard, hint.Deliveries, c.wake)()
	look := newAlarm(c.Clock)
	defer look.timer.Stop()
	lease := time.NewTicker(c.Lease / 4)
	defer lease.Stop()
	tidy := time.NewTicker(time.Minute)
	defer tidy.Stop()
	c.renew(work)
	stop := ctx.Done()
	for stop != nil || c.busy() {
		select {
		case <-stop:
			stop = nil
			c.forgetQueues()
		case o := <-c.landed:
			c.land(o)
		case p := <-c.polled:
			c.take(p)
			if c.more && stop != nil {
				c.poll(work)
			}
		case w := <-c.written:
			c.confirm(w)
		case r := <-c.renewed:
			c.takeLanes(r)
		case <-c.hints:
			c.pace.hear()
		case <-look.timer.C():
			c.pace.tick(c.Clock.Now())
			c.doubtHints()
			if stop != nil {
				c.poll(work)
			}
			c.write(work)
		case <-lease.C:
			if stop != nil || c.flying > 0 || len(c.unwritten) > 0 {
				c.renew(work)
			}
		case <-tidy.C:
			c.tidy()
		}
		if stop != nil {
			c.dispatch(work)
		}
		if len(c.unwritten) >= writeSoon {
			c.write(work)
		}
		c.metrics.flying.Set(float64(c.flying))
		look.set(c.next())
	}
	if !c.lease.good() {
		return // there is nothing to release, as where the shard does not answer
	}
	work, cancel := context.WithTimeout(work, c.Lease/4)
	defer cancel()
	if err := c.lanes.release(work, c.lease); err != nil {
		c.Log.WarnContext(ctx, "failed to release the lanes; their lease runs out", "shard", c.shard, "error", err)
	}
}

// doubtHints has this process, where it relies on hints, look as often as without where one
// did not come.
func (c *courier) doubtHints() {
	if missed := c.pace.missed(); !missed || !c.Hints.Complete() {
		return
	}
	c.metrics.unhinted.Inc()
	if c.Hints.Miss() {
		c.Log.Warn("no hint came of what was committed; looking all the time for a while", "shard", c.shard)
	}
}

// wake has the courier look. It does not wait.
func (c *courier) wake() {
	select {
	case c.hints <- struct{}{}:
	default: // it is about to
	}
}

// busy says whether something is under way.
func (c *courier) busy() bool {
	return c.flying > 0 || c.polling || c.writing || c.renewing || len(c.unwritten) > 0 && c.lease.good()
}

// drain runs until nothing is due.
func (c *courier) drain(ctx context.Context) error {
	r := c.extend(ctx, c.lease, nil, nil)
	if r.err != nil {
		return r.err
	}
	c.takeLanes(r)
	for {
		c.poll(ctx)
		for c.busy() {
			select {
			case o := <-c.landed:
				c.land(o)
			case p := <-c.polled:
				if p.err != nil {
					return p.err
				}
				c.take(p)
			case w := <-c.written:
				if w.err != nil {
					return w.err
				}
				c.confirm(w)
			case <-ctx.Done():
				return ctx.Err()
			}
			c.dispatch(ctx)
			c.write(ctx)
		}
		if c.quiet {
			return c.lanes.release(ctx, c.lease)
		}
	}
}

// now is the moment by the worker's clock.
func (c *courier) now() time.Time { return c.Clock.Now().UTC().Truncate(time.Microsecond) }

// renewal is what came of a renewal of the lease.
type renewal struct {
	lease  lease
	places places
	err    error
}

func (c *courier) renew(ctx context.Context) {
	if c.renewing {
		return
	}
	c.renewing = true
	give, moves, old := c.vacant(), c.movable(), c.lease
	go func() {
		ctx, cancel := context.WithTimeout(ctx, c.Lease/2)
		defer cancel()
		c.renewed <- c.extend(ctx, old, give, moves)
	}()
}

// extend renews the lease, takes webhooks to other lanes, and reads where all of them
// are then: in this order, so that what is read of lanes that were just taken holds for
// as long as they are held.
func (c *courier) extend(ctx context.Context, old lease, give []int64, moves []place) (r renewal) {
	if r.lease, r.err = c.lanes.renew(ctx, old, give); r.err != nil {
		return r
	}
	if r.err = relocate(ctx, c.Tenants, c.shard, c.lanes.owner, r.lease.epochs, moves); r.err != nil {
		return r
	}
	r.places, r.err = readPlaces(ctx, c.db)
	return r
}

// vacant lists the leaving lanes that nothing is under way in.
func (c *courier) vacant() []int64 {
	used := map[int64]bool{}
	for _, e := range c.endpoints {
		if len(e.open) > 0 {
			used[e.lane] = true
		}
	}
	var give []int64
	for lane := range c.leaving {
		if !used[lane] {
			give = append(give, lane)
		}
	}
	return give
}

// takeLanes takes note of which lanes are this worker's now.
func (c *courier) takeLanes(r renewal) {
	c.renewing = false
	if r.err != nil {
		c.Log.Warn("the lease on deliveries is not renewed", "shard", c.shard, "error", r.err)
		return
	}
	if len(r.places) > 0 || !maps.Equal(c.lease.epochs, r.lease.epochs) {
		c.pace.hinted = true // what is due in a lane that it did not have
	}
	c.lease = r.lease
	shared := 0
	for lane := range c.leaving {
		_, held := c.lease.epochs[lane]
		switch {
		case held && c.lease.claimed[lane]:
		case held && lane < laneCount && c.lease.over > 0:
			shared++
		default:
			delete(c.leaving, lane)
		}
	}
	for lane := range c.lease.epochs {
		switch {
		case c.leaving[lane]:
		case c.lease.claimed[lane]:
			c.leaving[lane] = true
		case lane < laneCount && shared < c.lease.over:
			c.leaving[lane] = true
			shared++
		}
	}
	c.takePlaces(r.places)
	c.metrics.lanes.Set(float64(len(c.lease.epochs)))
}

// mine says whether attempts may be begun in a lane.
func (c *courier) mine(lane int64) bool {
	_, held := c.lease.epochs[lane]
	return held && !c.leaving[lane]
}

func (c *courier) forgetQueues() {
	for _, e := range c.endpoints {
		e.forgetQueue()
	}
	c.ready = nil
}

// idleFor is how long an endpoint that is not delivered to is remembered.
const idleFor = 10 * time.Minute

// tidy forgets endpoints that nothing was due for in a while.
func (c *courier) tidy() {
	for w, e := range c.endpoints {
		if len(e.open) == 0 && time.Since(e.used) > idleFor {
			delete(c.endpoints, w)
		}
	}
}

// restFor is how long the database is left alone after it failed.
const restFor = time.Second

// report logs an error of the database, which is tried again soon.
func (c *courier) report(what string, err error) {
	c.rest = time.Now().Add(restFor)
	c.Log.Warn(what, slog.String("shard", c.shard), slog.Any("error", err))
}
