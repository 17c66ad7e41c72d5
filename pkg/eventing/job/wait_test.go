package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// await waits for a job on the test's clock, beside the test.
func (w *world) await(ctx context.Context, j id.Job, longest time.Duration) <-chan job.Job {
	answer := make(chan job.Job, 1)
	go func() {
		found, err := job.Await(ctx, w.tenants, w.clock, w.one, j, longest)
		if err == nil {
			answer <- found
		}
		close(answer)
	}()
	return answer
}

// waiting returns once somebody waits for the clock, which is after a look at the job.
func (w *world) waiting() {
	w.t.Helper()
	require.Eventually(w.t, w.clock.HasWaiters, 20*time.Second, time.Millisecond)
}

func TestAJobIsAwaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	answer := w.await(context.Background(), j, 20*time.Second)
	w.waiting()
	w.advance(w.runner(func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		j.State = job.Succeeded
		return 0, nil
	}))
	w.clock.Step(time.Second)
	require.Equal(t, job.Succeeded, (<-answer).State)
	require.Equal(t, job.Succeeded, (<-w.await(context.Background(), j, time.Minute)).State, "one that has ended is not waited for")
}

func TestAJobIsAwaitedNoLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	answer := w.await(context.Background(), j, 20*time.Second)
	for range 20 {
		w.waiting()
		w.clock.Step(time.Second)
	}
	require.Equal(t, job.Queued, (<-answer).State)
	_, err := job.Await(context.Background(), w.tenants, w.clock, w.two, j, time.Second)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: job.Noun})
}

func TestACallerWhoLeavesIsNotAwaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	ctx, leave := context.WithCancel(context.Background())
	answer := w.await(ctx, j, 20*time.Second)
	w.waiting()
	leave()
	require.Equal(t, job.Queued, (<-answer).State)
}
