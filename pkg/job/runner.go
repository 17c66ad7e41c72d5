package job

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/tenant"
)

// Step does the next part of a job in a transaction. It changes the job's
// Progress, Done and Total, and its State once nothing is left to do, and
// answers how long the next step should wait. An error undoes the step; it is
// tried again.
type Step func(ctx context.Context, tx *tenant.Tx, j *Job, now time.Time) (wait time.Duration, err error)

const (
	// lease is how long a claimed step is nobody else's.
	lease = 30 * time.Second
	// look is how often an idle runner looks for due steps.
	look = 50 * time.Millisecond
	// atOnce bounds the steps that run side by side on a shard.
	atOnce = 4
	// maxFailures is how many steps in a row may fail before the job does.
	maxFailures = 10
)

// Runner makes the steps of every shard's jobs until it is stopped.
type Runner struct {
	Tenants *tenant.Tenants
	// Steps are what the kinds do.
	Steps map[Kind]Step
	// Shards lists the shards; it is asked again now and then.
	Shards func(context.Context) ([]string, error)
	Clock  clock.PassiveClock
	Log    *slog.Logger

	id     uuid.UUID
	cancel context.CancelFunc
	group  sync.WaitGroup
	// failures counts the failures in a row of a job's steps, by its id.
	failures sync.Map
}

// Start begins.
func (r *Runner) Start() {
	r.id = uuid.New()
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.group.Go(func() { r.run(ctx) })
}

// Stop lets the steps under way end and begins no more.
func (r *Runner) Stop() {
	r.cancel()
	r.group.Wait()
}

func (r *Runner) run(ctx context.Context) {
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
			if _, err := r.Advance(ctx, shard); err != nil && ctx.Err() == nil {
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

// Advance makes the steps that are due on a shard, a few at a time, and
// answers how many it made.
func (r *Runner) Advance(ctx context.Context, shard string) (int, error) {
	db, err := r.Tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	jobs, err := claim(ctx, db, r.id, r.now(), atOnce)
	if err != nil {
		return 0, err
	}
	// A step that began is not interrupted by the end.
	work := context.WithoutCancel(ctx)
	var group sync.WaitGroup
	for _, j := range jobs {
		group.Go(func() { r.step(work, j) })
	}
	group.Wait()
	return len(jobs), nil
}

func (r *Runner) now() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// step makes one step of a job.
func (r *Runner) step(ctx context.Context, c claimed) {
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	err := r.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		j, err := lock(ctx, tx, c.ID)
		if err != nil || j.State.Ended() {
			return err
		}
		now := r.now()
		if j.StartedAt == nil {
			j.StartedAt = &now
		}
		j.State = Running
		wait, err := r.make(ctx, tx, &j, now)
		if err != nil {
			return err
		}
		return j.save(ctx, tx, now, now.Add(wait))
	})
	if err == nil {
		r.failures.Delete(c.ID)
		return
	}
	r.Log.WarnContext(ctx, "a job's step failed", "job", c.ID.String(), "error", err)
	r.failed(ctx, c)
}

func (r *Runner) make(ctx context.Context, tx *tenant.Tx, j *Job, now time.Time) (wait time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	step, ok := r.Steps[j.Kind]
	if !ok {
		return 0, fmt.Errorf("nothing here makes a job of kind %q", j.Kind)
	}
	return step(ctx, tx, j, now)
}

// failed leaves a job whose step failed to its lease's end, or gives it up
// after several in a row.
func (r *Runner) failed(ctx context.Context, c claimed) {
	count, _ := r.failures.LoadOrStore(c.ID, new(int))
	n := count.(*int)
	if *n++; *n < maxFailures {
		return
	}
	err := r.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		j, err := lock(ctx, tx, c.ID)
		if err != nil || j.State.Ended() {
			return err
		}
		j.State, j.ErrorCode = Failed, "internal_error"
		return j.save(ctx, tx, r.now(), r.now())
	})
	if err == nil {
		r.failures.Delete(c.ID)
	}
}
