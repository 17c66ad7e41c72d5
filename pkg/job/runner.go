package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/pershard"
	"visavis.dev/pkg/tenant"
)

const (
	// lease is how long a claimed step is nobody else's.
	lease = 30 * time.Second
	// look is how often an idle runner looks for due steps.
	look = 50 * time.Millisecond
	// claimWithin bounds a look for due steps and the claiming of one, and writeWithin
	// what is written of a job beside its steps.
	claimWithin = 5 * time.Second
	writeWithin = 10 * time.Second
	// quickAtOnce bounds the quick steps that run side by side on a shard.
	quickAtOnce = 4
	// heavyAtOnce bounds the heavy ones of a process, and so the memory they take.
	heavyAtOnce = 2
	// maxFailures is how many steps in a row may fail before the job does.
	maxFailures = 10
)

// Runner makes the steps of every shard's jobs until it is stopped. Each shard has lines
// of its own: one that does not answer holds nobody else's jobs up.
type Runner struct {
	Tenants *tenant.Tenants
	// Share is which jobs it makes.
	Share Share
	// Steps are what the quick kinds do, and Works the heavy ones.
	Steps map[Kind]Step
	Works map[Kind]Work
	// Shards lists the shards; it is asked again now and then.
	Shards func(context.Context) ([]string, error)
	Clock  clock.WithTicker
	Log    *slog.Logger
	// Metrics counts what failed for a shard; nil for nowhere.
	Metrics prometheus.Registerer

	cancel context.CancelFunc
	loops  []*pershard.Loop
	// heavy are the heavy steps under way, and slots bounds them.
	heavy sync.WaitGroup
	slots chan struct{}
	// stopping is closed when the runner stops; nil before it is started.
	stopping <-chan struct{}
	// failures counts the failures in a row of a job's steps, by its id.
	failures sync.Map
}

// Start begins.
func (r *Runner) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.stopping = cancel, ctx.Done()
	r.slots = make(chan struct{}, heavyAtOnce)
	if r.Share != Reading { // which has nothing quick
		r.loop("advance quick jobs", func(ctx context.Context, shard string) (bool, error) {
			made, err := r.advance(ctx, shard, false, quickAtOnce)
			return made == quickAtOnce, err
		})
	}
	r.loop("advance heavy jobs", r.beginHeavy)
}

func (r *Runner) loop(work string, run func(context.Context, string) (bool, error)) {
	l := pershard.New(pershard.Options{
		Work: work, Shards: r.Shards, Every: look, Run: run, Clock: clock.RealClock{}, Log: r.Log, Metrics: r.Metrics,
	})
	r.loops = append(r.loops, l)
	l.Start()
}

// Stop lets the steps under way end, gives back those that are only prepared,
// and begins no more.
func (r *Runner) Stop() {
	r.cancel()
	var group sync.WaitGroup
	for _, l := range r.loops {
		group.Go(l.Stop)
	}
	group.Wait()
	r.heavy.Wait()
}

// Advance makes steps that are due on a shard, a few quick ones and a heavy
// one, and answers how many it made.
func (r *Runner) Advance(ctx context.Context, shard string) (int, error) {
	quick, err := r.advance(ctx, shard, false, quickAtOnce)
	if err != nil {
		return quick, err
	}
	heavy, err := r.advance(ctx, shard, true, 1)
	return quick + heavy, err
}

// advance claims steps that are due and makes them.
func (r *Runner) advance(ctx context.Context, shard string, heavy bool, atOnce int) (int, error) {
	jobs, err := r.claim(ctx, shard, heavy, atOnce)
	if err != nil {
		return 0, err
	}
	// A step that began is not interrupted by the end.
	work := context.WithoutCancel(ctx)
	var group sync.WaitGroup
	for _, c := range jobs {
		group.Go(func() { r.make(work, c) })
	}
	group.Wait()
	return len(jobs), nil
}

func (r *Runner) claim(ctx context.Context, shard string, heavy bool, n int) ([]claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	return claim(ctx, r.Tenants, shard, r.Share, heavy, r.now(), n)
}

// beginHeavy begins a heavy step of a shard where one is due, as soon as a slot of the
// process is free. Nothing is claimed before, and a shard that does not answer takes
// no slot.
func (r *Runner) beginHeavy(ctx context.Context, shard string) (more bool, err error) {
	looking, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	if due, err := waiting(looking, r.Tenants, shard, r.Share, true, r.now(), 1); err != nil || len(due) == 0 {
		return false, err
	}
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	free := func() { <-r.slots }
	jobs, err := r.claim(ctx, shard, true, 1)
	if err != nil || len(jobs) == 0 {
		free()
		return false, err
	}
	work := context.WithoutCancel(ctx)
	r.heavy.Go(func() {
		defer free()
		r.make(work, jobs[0])
	})
	return true, nil
}

func (r *Runner) now() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// make makes one step of a job.
func (r *Runner) make(ctx context.Context, c claimed) {
	err := r.step(ctx, c)
	var refused *Refusal
	switch {
	case err == nil:
		r.failures.Delete(c.ID)
	case errors.Is(err, errLost): // whoever has it now goes on
	case errors.Is(err, errStopping):
		ctx, cancel := context.WithTimeout(ctx, writeWithin)
		defer cancel()
		if err := c.giveBack(ctx, r.Tenants, r.now()); err != nil {
			r.Log.WarnContext(ctx, "failed to give a job back; its lease runs out", "job", c.ID.String(), "error", err)
		}
	case errors.As(err, &refused):
		if err := r.fail(ctx, c, refused.Code, nil); err != nil {
			r.Log.WarnContext(ctx, "a job that cannot be done waits for its lease to end", "job", c.ID.String(), "error", err)
		}
	default:
		r.Log.WarnContext(ctx, "a job's step failed", "job", c.ID.String(), "error", err)
		r.failed(ctx, c)
	}
}

func (r *Runner) step(ctx context.Context, c claimed) error {
	step, err := r.ready(ctx, c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	return r.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		j, err := c.lock(ctx, tx)
		if err != nil {
			return err
		}
		now := r.now()
		j.run(now)
		wait, err := safely(func() (time.Duration, error) { return step(ctx, tx, &j, now) })
		if err != nil {
			return err
		}
		return j.save(ctx, tx, now, now.Add(wait))
	})
}

// ready is the step to make; of a heavy kind it is prepared first.
func (r *Runner) ready(ctx context.Context, c claimed) (Step, error) {
	if work, ok := r.Works[c.Kind]; ok {
		return r.prepare(ctx, c, work)
	}
	if step, ok := r.Steps[c.Kind]; ok {
		return step, nil
	}
	return nil, fmt.Errorf("nothing here makes a job of kind %q", c.Kind)
}

// safely makes an error of a panic.
func safely[T any](fn func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fn()
}

// failed leaves a job whose step failed to its lease's end, or gives it up
// after several in a row.
func (r *Runner) failed(ctx context.Context, c claimed) {
	count, _ := r.failures.LoadOrStore(c.ID, new(int))
	n := count.(*int)
	if *n++; *n < maxFailures {
		return
	}
	if err := r.fail(ctx, c, "internal_error", r.Works[c.Kind].GiveUp); err != nil {
		r.Log.WarnContext(ctx, "a job cannot be given up yet", "job", c.ID.String(), "error", err)
	}
}

// fail ends a job for good.
func (r *Runner) fail(ctx context.Context, c claimed, code string, last func(context.Context, *tenant.Tx, *Job, time.Time) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	err := r.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		j, err := c.lock(ctx, tx)
		if err != nil {
			return err
		}
		now := r.now()
		j.run(now)
		j.State, j.ErrorCode = Failed, code
		if last != nil {
			if err := last(ctx, tx, &j, now); err != nil {
				return err
			}
		}
		return j.save(ctx, tx, now, now)
	})
	if errors.Is(err, errLost) { // and so whoever has it now is to end it
		err = nil
	}
	if err == nil {
		r.failures.Delete(c.ID)
	}
	return err
}
