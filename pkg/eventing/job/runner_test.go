package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// mark leaves a row that tells that a step was committed.
func mark(ctx context.Context, tx *tenant.Tx, name string, now time.Time) error {
	return setting.Set(ctx, tx, setting.Key(name), true, "test", now)
}

func (w *world) marked(org id.Org, name string) (on bool) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.Read(context.Background(), org, func(r *tenant.Reads) {
		setting.Queue(r, org, setting.Key(name), &on)
	}))
	return on
}

// succeed is a step that leaves nothing to do.
func succeed(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

func TestStepsAdvanceAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	began := w.now()
	runner := w.runner(func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if j.Total < 0 {
			j.Total = 3
		}
		require.Equal(t, job.Running, j.State)
		j.Done++
		j.Progress = json.RawMessage(fmt.Sprintf(`{"at": %d}`, j.Done))
		if j.Done == j.Total {
			j.State = job.Succeeded
		}
		return time.Minute, mark(ctx, tx, fmt.Sprint(j.Done), now)
	})
	for step := int64(1); step <= 3; step++ {
		require.Equal(t, 1, w.advance(runner))
		require.Zero(t, w.advance(runner), "the next is not due")
		got := w.job(w.one, j)
		require.Equal(t, step, got.Done)
		require.Equal(t, step, got.Attempts)
		require.EqualValues(t, 3, got.Total)
		require.JSONEq(t, fmt.Sprintf(`{"at": %d}`, step), string(got.Progress))
		require.True(t, w.marked(w.one, fmt.Sprint(step)))
		require.Equal(t, began, got.StartedAt.UTC())
		if step < 3 {
			require.Equal(t, job.Running, got.State)
			require.Empty(t, w.told(w.one))
			w.pass(time.Minute - time.Microsecond)
			require.Zero(t, w.advance(runner), "not a moment too early")
			w.pass(time.Microsecond)
		}
	}
	got := w.job(w.one, j)
	require.Equal(t, job.Succeeded, got.State)
	require.Equal(t, w.now(), got.FinishedAt.UTC())
	w.pass(time.Hour)
	require.Zero(t, w.advance(runner))
	require.Len(t, w.told(w.one), 1)
	require.Empty(t, w.told(w.two))
}

func TestAStepThatFailsIsUndoneAndTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"an error":              func() error { return errors.New("cannot") },
		"a panic":               func() error { panic("cannot") },
		"a panic with an error": func() error { panic(errors.New("cannot")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			j := w.insert(w.one)
			failing := true
			runner := w.runner(func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
				j.Done, j.Progress, j.State = j.Done+1, json.RawMessage(`{"far": true}`), job.Succeeded
				if err := mark(ctx, tx, "written", now); err != nil || !failing {
					return 0, err
				}
				return 0, fail()
			})
			require.Equal(t, 1, w.advance(runner))
			got := w.job(w.one, j)
			require.Equal(t, job.Queued, got.State)
			require.Zero(t, got.Done)
			require.JSONEq(t, `{}`, string(got.Progress))
			require.False(t, w.marked(w.one, "written"))
			require.Empty(t, w.told(w.one))

			failing = false
			w.pass(lease - time.Microsecond)
			require.Zero(t, w.advance(runner), "the lease is not over")
			w.pass(time.Microsecond)
			require.Equal(t, 1, w.advance(runner))
			got = w.job(w.one, j)
			require.Equal(t, job.Succeeded, got.State)
			require.EqualValues(t, 1, got.Done)
			require.EqualValues(t, 2, got.Attempts)
			require.True(t, w.marked(w.one, "written"))
			require.Len(t, w.told(w.one), 1)
		})
	}
}

// maxFailures is how many steps in a row may fail.
const maxFailures = 10

func TestAJobWhoseStepsFailIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failing := func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) {
		return 0, errors.New("cannot")
	}
	runners := map[string]*job.Runner{"its step fails": w.runner(failing), "nobody knows its kind": w.runner(nil)}
	runners["nobody knows its kind"].Steps = nil
	for name, runner := range runners {
		t.Run(name, func(t *testing.T) {
			before := len(w.told(w.one))
			j := w.insert(w.one)
			for n := range maxFailures {
				require.False(t, w.job(w.one, j).State.Ended(), "after %d failures", n)
				require.Equal(t, 1, w.advance(runner))
				w.pass(lease)
			}
			got := w.job(w.one, j)
			require.Equal(t, job.Failed, got.State)
			require.Equal(t, "internal_error", got.ErrorCode)
			require.EqualValues(t, maxFailures, got.Attempts)
			require.NotNil(t, got.FinishedAt)
			require.Zero(t, w.advance(runner))
			told := w.told(w.one)[before:]
			require.Len(t, told, 1)
			require.Contains(t, told[0], `"internal_error"`)
			require.Contains(t, told[0], j.String())
		})
	}
}

// Only failures in a row count.
func TestAJobThatFailsNowAndThenGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	steps := 0
	runner := w.runner(func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) {
		if steps++; steps%maxFailures == 0 {
			return 0, nil
		}
		return 0, errors.New("cannot")
	})
	for range 3 * maxFailures {
		require.Equal(t, 1, w.advance(runner))
		w.pass(lease)
	}
	require.Equal(t, job.Running, w.job(w.one, j).State)
}

func TestACancelledJobMakesNoFurtherStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	runner := w.runner(func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) { return 0, nil })
	require.Equal(t, 1, w.advance(runner))
	w.cancel(w.one, j)
	w.pass(time.Hour)
	require.Zero(t, w.advance(runner))
	got := w.job(w.one, j)
	require.Equal(t, job.Cancelled, got.State)
	require.EqualValues(t, 1, got.Attempts)
}

func TestAJobOfAnOrganizationThatMovesWaits(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"fenced", "moved"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			moving, still := w.insert(w.one), w.insert(w.two)
			w.fence(w.one, state)
			runner := w.runner(succeed)
			require.Equal(t, 1, w.advance(runner))
			require.Equal(t, job.Succeeded, w.job(w.two, still).State)
			w.fence(w.one, "open")
			require.Zero(t, w.job(w.one, moving).Attempts)
			require.Equal(t, 1, w.advance(runner))
			require.Equal(t, job.Succeeded, w.job(w.one, moving).State)
		})
	}
}

// While an organization is copied its jobs go on, and the copy learns of it.
func TestAJobOfAnOrganizationThatIsCopiedGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	w.fence(w.one, "capture")
	claimed := 0
	runner := w.runner(func(ctx context.Context, tx *tenant.Tx, _ *job.Job, _ time.Time) (time.Duration, error) {
		return 0, tx.QueryRow(ctx, `SELECT count(*) FROM move_dirty WHERE org_id = $1 AND table_name = 'job' AND pk = $2`, tx.Org, j.String()).Scan(&claimed)
	})
	require.Equal(t, 1, w.advance(runner))
	require.Equal(t, 1, claimed, "noted with the claim")
}

// A step under way is nobody else's, even when its lease is over.
func TestAStepUnderWayIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	began, end := make(chan struct{}), make(chan struct{})
	first := w.runner(func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) {
		close(began)
		<-end
		return time.Hour, nil
	})
	second := w.runner(succeed)
	done := make(chan error, 1)
	go func() {
		_, err := first.Advance(context.Background(), "a")
		done <- err
	}()
	<-began
	require.Zero(t, w.advance(second))
	w.pass(10 * lease)
	require.Zero(t, w.advance(second), "it is locked")
	close(end)
	require.NoError(t, <-done)
	got := w.job(w.one, j)
	require.Equal(t, job.Running, got.State)
	require.EqualValues(t, 1, got.Attempts)
}

func TestRunnersShareTheSteps(t *testing.T) {
	t.Parallel()
	const jobs, steps, runners = 12, 8, 3
	w := newWorld(t)
	var all []id.Job
	for range jobs {
		all = append(all, w.insert(w.one))
	}
	var (
		underWay sync.Map
		twice    atomic.Bool
		made     atomic.Int64
		group    sync.WaitGroup
	)
	step := func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if _, loaded := underWay.LoadOrStore(j.ID, true); loaded {
			twice.Store(true)
		}
		defer underWay.Delete(j.ID)
		made.Add(1)
		if j.Done++; j.Done == steps {
			j.State = job.Succeeded
		}
		return 0, nil
	}
	for range runners {
		runner := w.runner(step)
		group.Go(func() {
			for made.Load() < jobs*steps && !t.Failed() {
				if _, err := runner.Advance(context.Background(), "a"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	require.False(t, twice.Load(), "two runners made a step of the same job at once")
	require.EqualValues(t, jobs*steps, made.Load())
	for _, j := range all {
		got := w.job(w.one, j)
		require.Equal(t, job.Succeeded, got.State)
		require.EqualValues(t, steps, got.Done)
		require.EqualValues(t, steps, got.Attempts)
	}
	require.Len(t, w.told(w.one), jobs)
}

func TestStoppingWaitsForTheStepsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	began, end, stopped := make(chan struct{}), make(chan struct{}), make(chan struct{})
	runner := w.runner(func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		close(began)
		<-end
		j.Done++
		return 0, errors.Join(ctx.Err(), mark(ctx, tx, "written", now))
	})
	runner.Start()
	<-began
	go func() {
		runner.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
		t.Fatal("it did not wait")
	case <-time.After(100 * time.Millisecond):
	}
	close(end)
	<-stopped
	got := w.job(w.one, j)
	require.EqualValues(t, 1, got.Done)
	require.EqualValues(t, 1, got.Attempts, "no further step was begun")
	require.True(t, w.marked(w.one, "written"))
}

func TestAShardThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.runner(succeed).Advance(context.Background(), "nowhere")
	require.Error(t, err)
}
