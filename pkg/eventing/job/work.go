package job

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/store/tenant"
)

// Step does the next part of a job in a transaction. It changes the job's
// Progress, Done and Total, and its State once nothing is left to do, and
// answers how long the next step should wait. An error undoes the step; it is
// tried again.
type Step func(ctx context.Context, tx *tenant.Tx, j *Job, now time.Time) (wait time.Duration, err error)

// Refusal is the error of a step, or of what prepares it, whose job cannot be done:
// what the step did is undone, and the job fails with the code.
type Refusal struct{ Code string }

func (r *Refusal) Error() string { return "the job cannot be done: " + r.Code }

// Work is what the jobs of a heavy kind do.
type Work struct {
	// Prepare does what takes long, or waits for others, outside any
	// transaction, and answers the step that commits what came of it. Its lease
	// is renewed meanwhile, so nobody else prepares the same; it ends when the
	// claim is lost or after prepareLimit. A crash repeats it, so it leaves
	// nothing behind that its next run does not find and replace.
	Prepare func(ctx context.Context, j Job) (Step, error)
	// GiveUp is called in the transaction that fails a job which could not be
	// made in several tries in a row. It may set the job's ErrorCode.
	GiveUp func(ctx context.Context, tx *tenant.Tx, j *Job, now time.Time) error
	// Failures is how many steps in a row may fail before the job is given up, panics
	// aside; 0 means as many as of any job, and Endless that it never is. There is a lease between two, and of what is endless up to an hour.
	Failures int
}

// Endless is the Failures of jobs that are made again until that succeeds: what fails is a fault
// of ours, panics too.
const Endless = -1

// prepareLimit bounds what comes before a step.
const prepareLimit = 10 * time.Minute

// errStopping says that the runner stops.
var errStopping = errors.New("the runner stops")

// prepare makes the step of a heavy kind ready.
func (r *Runner) prepare(ctx context.Context, c claimed, w Work) (step Step, err error) {
	began := r.now()
	beginning, begun := context.WithTimeout(ctx, writeWithin)
	j, err := c.begin(beginning, r.Tenants, began)
	begun()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limited, stop := context.WithTimeout(ctx, prepareLimit)
	defer stop()
	renewed := make(chan struct{})
	// The first tick is awaited from here on, not from whenever the goroutine runs.
	ticks := r.Clock.NewTicker(lease / 3)
	go func() {
		defer close(renewed)
		defer ticks.Stop()
		r.renew(ctx, c, began, ticks.C(), cancel)
	}()
	defer func() {
		cancel(nil)
		<-renewed
	}()
	step, err = safely(func() (Step, error) { return w.Prepare(limited, j) })
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return step, err
}

// renew keeps the claim until the context ends, and ends it when it is lost: to another,
// or because it could not be renewed for as long as a lease lasts. So nothing is prepared
// for long for a shard that does not answer.
func (r *Runner) renew(ctx context.Context, c claimed, claimed time.Time, ticks <-chan time.Time, end context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.stopping:
			end(errStopping)
			return
		case <-ticks:
		}
		now := r.now()
		err := r.renewOnce(ctx, c, now)
		if err == nil {
			claimed = now
		}
		if errors.Is(err, errLost) || r.now().Sub(claimed) >= lease {
			end(errLost)
			return
		}
	}
}

func (r *Runner) renewOnce(ctx context.Context, c claimed, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, renewWithin)
	defer cancel()
	return c.renew(ctx, r.Tenants, now)
}

// renewWithin bounds one renewal, so that there is time for another.
const renewWithin = lease / 4
