package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// heavyRunner makes the steps of heavy jobs.
func (w *world) heavyRunner(work job.Work) *job.Runner {
	r := w.runner(succeed)
	r.Works = map[job.Kind]job.Work{job.KnowledgeSync: work}
	return r
}

func heavy(j *job.Job) { j.Kind = job.KnowledgeSync }

// ending prepares a step that ends the job and leaves a mark.
func ending(context.Context, job.Job) (job.Step, error) {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		j.State = job.Succeeded
		return 0, mark(ctx, tx, "committed", now)
	}, nil
}

func TestAHeavyStepIsPreparedBeforeItsTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	prepared := 0
	runner := w.heavyRunner(job.Work{Prepare: func(ctx context.Context, seen job.Job) (job.Step, error) {
		prepared++
		require.Equal(t, j, seen.ID)
		require.Equal(t, job.Running, w.job(w.one, j).State, "what it is doing can be seen")
		require.NotNil(t, w.job(w.one, j).StartedAt)
		return ending(ctx, seen)
	}})
	require.Equal(t, 1, w.advance(runner))
	require.Equal(t, 1, prepared)
	require.Equal(t, job.Succeeded, w.job(w.one, j).State)
	require.True(t, w.marked(w.one, "committed"))
	require.Len(t, w.told(w.one), 1)
}

// Its lease is renewed, so a second runner does not prepare the same.
func TestALongPreparationIsNobodyElses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	began, end := make(chan struct{}), make(chan struct{})
	first := w.heavyRunner(job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		close(began)
		<-end
		return ending(ctx, j)
	}})
	second := w.heavyRunner(job.Work{Prepare: ending})
	done := make(chan error, 1)
	go func() {
		_, err := first.Advance(context.Background(), "a")
		done <- err
	}()
	<-began
	for range 6 {
		before := w.due(w.one, j)
		w.pass(lease / 2)
		require.Eventually(t, func() bool { return w.due(w.one, j).After(before) }, 20*time.Second, 5*time.Millisecond)
		require.Zero(t, w.advance(second))
	}
	close(end)
	require.NoError(t, <-done)
	require.Equal(t, job.Succeeded, w.job(w.one, j).State)
	require.EqualValues(t, 1, w.job(w.one, j).Attempts)
}

// A runner that lost its claim without noticing commits nothing.
func TestAPreparationThatLostItsClaimCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	first := w.heavyRunner(job.Work{Prepare: func(context.Context, job.Job) (job.Step, error) {
		w.exec(`UPDATE job SET due_at = $1`, w.now()) // as if it had been silent for a lease
		require.Equal(t, 1, w.advance(w.heavyRunner(job.Work{Prepare: ending})))
		return func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) {
			t.Error("it made a step that is another's")
			return 0, nil
		}, nil
	}})
	require.Equal(t, 1, w.advance(first))
	require.Equal(t, job.Succeeded, w.job(w.one, j).State)
	require.Len(t, w.told(w.one), 1)
}

func TestAPreparationEndsWhenItsClaimIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	began := make(chan struct{})
	runner := w.heavyRunner(job.Work{Prepare: func(ctx context.Context, _ job.Job) (job.Step, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	done := make(chan error, 1)
	go func() {
		_, err := runner.Advance(context.Background(), "a")
		done <- err
	}()
	<-began
	w.exec(`UPDATE job SET owner = NULL WHERE due_at > $1`, w.now())
	w.pass(lease / 2)
	require.NoError(t, <-done)
	require.Zero(t, w.job(w.one, j).Attempts, "the process did not end")
}

func TestAPreparationThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New("cannot") }, "a panic": func() error { panic("cannot") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			j := w.insert(w.one, heavy)
			failing := true
			runner := w.heavyRunner(job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
				if failing {
					return nil, fail()
				}
				return ending(ctx, j)
			}})
			require.Equal(t, 1, w.advance(runner))
			require.Zero(t, w.advance(runner), "the lease is not over")
			require.Empty(t, w.told(w.one))
			require.Zero(t, w.job(w.one, j).Attempts, "the process did not end")
			failing = false
			w.pass(lease)
			require.Equal(t, 1, w.advance(runner))
			require.Equal(t, job.Succeeded, w.job(w.one, j).State)
		})
	}
}

func TestAHeavyJobThatIsGivenUpTellsItsKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	given := 0
	runner := w.heavyRunner(job.Work{
		Prepare: func(context.Context, job.Job) (job.Step, error) { return nil, errors.New("cannot") },
		GiveUp: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
			given++
			j.ErrorCode = "unreadable"
			event.Emit(tx, event.Draft{Type: event.ConsentRecorded, At: now})
			return mark(ctx, tx, "given up", now)
		},
	})
	for range maxFailures {
		require.Zero(t, given)
		require.Equal(t, 1, w.advance(runner))
		w.pass(lease)
	}
	require.Equal(t, 1, given)
	require.True(t, w.marked(w.one, "given up"))
	got := w.job(w.one, j)
	require.Equal(t, job.Failed, got.State)
	require.Equal(t, "unreadable", got.ErrorCode)
	require.Len(t, w.told(w.one), 1)
	events, err := event.List(context.Background(), w.tenants, w.one, event.Filter{}, event.Position{}, 10)
	require.NoError(t, err)
	require.Len(t, events, 2, "what the kind tells, and that the job ended")
}

// Stopping does not wait for what is only prepared: another runner does it at once.
func TestStoppingGivesBackWhatIsOnlyPrepared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	began := make(chan struct{})
	runner := w.heavyRunner(job.Work{Prepare: func(ctx context.Context, _ job.Job) (job.Step, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	runner.Start()
	<-began
	runner.Stop()
	require.Zero(t, w.job(w.one, j).Attempts)
	require.Equal(t, 1, w.advance(w.heavyRunner(job.Work{Prepare: ending})), "without waiting for the lease")
	require.Equal(t, job.Succeeded, w.job(w.one, j).State)
}

// Quick jobs pass heavy ones, however many wait.
func TestQuickJobsPassHeavyOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		w.insert(w.one, heavy)
	}
	w.pass(time.Second)
	quick := w.insert(w.one)
	require.Equal(t, 2, w.advance(w.heavyRunner(job.Work{Prepare: ending})))
	require.Equal(t, job.Succeeded, w.job(w.one, quick).State)
}

func TestAHeavyJobIsNotCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one, heavy)
	err := w.tenants.InTx(context.Background(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, j, activity.Actor{By: "test", At: w.now()})
		return err
	})
	require.ErrorIs(t, err, &errdefs.Conflict{Noun: job.Noun, Reason: job.ReasonNotCancellable})
	require.Equal(t, job.Queued, w.job(w.one, j).State)
}

// due is when the job's lease ends, or its next step is due.
func (w *world) due(org id.Org, j id.Job) (due time.Time) {
	w.t.Helper()
	w.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT due_at FROM job WHERE org_id = $1 AND id = $2`, org, j).Scan(&due)
	})
	return due
}

// A step that finds that its job cannot be done leaves nothing but that.
func TestARefusalUndoesTheStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	r := w.runner(func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		j.State, j.Done = job.Succeeded, 1
		require.NoError(t, mark(ctx, tx, "memory.enabled", now))
		return 0, fmt.Errorf("wrapped: %w", &job.Refusal{Code: "portals_limit"})
	})
	require.Equal(t, 1, w.advance(r))
	failed := w.job(w.one, j)
	require.Equal(t, job.Failed, failed.State)
	require.Equal(t, "portals_limit", failed.ErrorCode)
	require.Zero(t, failed.Done)
	require.NotNil(t, failed.FinishedAt)
	require.False(t, w.marked(w.one, "memory.enabled"))
	require.Len(t, w.told(w.one), 1)
	require.Zero(t, w.advance(r))
}

// What is endless is made again until that succeeds, whatever fails.
func TestEndlessWorkIsNeverGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	steps := 0
	runner := w.heavyRunner(job.Work{Failures: job.Endless, Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		if steps++; steps%2 == 0 {
			panic("a fault")
		} else if steps < 4*maxFailures {
			return nil, errors.New("a fault")
		}
		return ending(ctx, j)
	}})
	j := w.insert(w.one, heavy)
	var waits []time.Duration
	for !w.job(w.one, j).State.Ended() {
		require.Equal(t, 1, w.advance(runner))
		if !w.job(w.one, j).State.Ended() {
			waits = append(waits, w.due(w.one, j).Sub(w.now()))
			w.pass(waits[len(waits)-1])
		}
	}
	require.Equal(t, job.Succeeded, w.job(w.one, j).State)
	require.Equal(t, 4*maxFailures+1, steps)
	require.Equal(t, []time.Duration{lease, 2 * lease, 4 * lease}, waits[:3], "it hammers nobody")
	require.Equal(t, time.Hour, slices.Max(waits))
}
