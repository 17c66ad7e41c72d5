package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/tenant"
)

const (
	// lease is how long a claimed step is nobody else's.
	lease = 30 * time.Second
	// look is how often an idle runner looks for due steps.
	look = 50 * time.Millisecond
	// quickAtOnce bounds the quick steps that run side by side on a shard.
	quickAtOnce = 4
	// heavyAtOnce bounds the heavy ones of a process, and so the memory they take.
	heavyAtOnce = 2
	// maxFailures is how many steps in a row may fail before the job does.
	maxFailures = 10
)

// Runner makes the steps of every shard's jobs until it is stopped.
type Runner struct {
	Tenants *tenant.Tenants
	// Steps are what the quick kinds do, and Works the heavy ones.
	Steps map[Kind]Step
	Works map[Kind]Work
	// Shards lists the shards; it is asked again now and then.
	Shards func(context.Context) ([]string, error)
	Clock  clock.WithTicker
	Log    *slog.Logger

	cancel context.CancelFunc
	group  sync.WaitGroup
	// stopping is closed when the runner stops; nil before it is started.
	stopping <-chan struct{}
	// failures counts the failures in a row of a job's steps, by its id.
	failures sync.Map
}

// Start begins.
func (r *Runner) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.stopping = cancel, ctx.Done()
	r.group.Go(func() { r.run(ctx, false, quickAtOnce) })
	// Each with one at a time: a long one keeps nobody but the next in its own line waiting.
	for range heavyAtOnce {
		r.group.Go(func() { r.run(ctx, true, 1) })
	}
}

// Stop lets the steps under way end, gives back those that are only prepared,
// and begins no more.
func (r *Runner) Stop() {
	r.cancel()
	r.group.Wait()
}

func (r *Runner) run(ctx context.Context, heavy bool, atOnce int) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var shards []string
	var listed time.Time
	for {
		if time.Since(listed) > lease {
			if names, err := r.Shards(ctx); err == nil {
				shards, listed = names, time.Now()
			}
		}
		for _, shard := range shards {
			if _, err := r.advance(ctx, shard, heavy, atOnce); err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "jobs wait", "shard", shard, "error", err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
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

func (r *Runner) advance(ctx context.Context, shard string, heavy bool, atOnce int) (int, error) {
	jobs, err := claim(ctx, r.Tenants, shard, heavy, r.now(), atOnce)
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
		if err := c.giveBack(ctx, r.Tenants, r.now()); err != nil {
			r.Log.WarnContext(ctx, "a job waits for its lease to end", "job", c.ID.String(), "error", err)
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
