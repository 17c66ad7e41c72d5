package job_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/store/tenant"
)

// hinted has a runner look by itself once an hour: what no hint is heard of is not made.
func (w *world) hinted(r *job.Runner) {
	w.t.Helper()
	r.Clock, r.Hints, r.Rarely = clock.RealClock{}, hint.NewHub(true), time.Hour
	w.tenants.HintBy(r.Hints)
	r.Start()
	w.t.Cleanup(r.Stop)
}

func (w *world) awaitEnd(jobs ...id.Job) {
	w.t.Helper()
	for _, j := range jobs {
		require.Eventually(w.t, func() bool { return w.job(w.one, j).State.Ended() }, 20*time.Second, 5*time.Millisecond)
	}
}

// A hint comes at any moment of a look, or while steps are made: none is lost. What a step
// has wait is made on time although nobody hints then.
func TestEachHintIsFollowedByALook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pause = 300 * time.Millisecond
	r := w.runner(func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if j.Done++; j.Done == 3 {
			j.State = job.Succeeded
		}
		if j.Done == 2 {
			return pause, nil
		}
		return 0, nil
	})
	w.hinted(r)
	var jobs []id.Job
	for n := range 60 {
		jobs = append(jobs, w.insert(w.one, func(j *job.Job) { j.ResourceID = "wh_" + strconv.Itoa(n) }))
		<-time.After(time.Duration(n%20) * time.Millisecond) // some while a look is under way
	}
	began := time.Now()
	w.awaitEnd(jobs...)
	require.Less(t, time.Since(began), 15*time.Second)
}

// Heavy jobs of an organization wait for each other's ends, which nobody hints at.
func TestAJobWaitsForItsOrganizationsShareWithoutLooking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.runner(nil)
	r.Works = map[job.Kind]job.Work{job.AvatarPrepare: {Prepare: func(context.Context, job.Job) (job.Step, error) {
		return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
			j.State = job.Succeeded
			return 0, nil
		}, nil
	}}}
	w.hinted(r)
	var jobs []id.Job
	for n := range 10 {
		jobs = append(jobs, w.insert(w.one, func(j *job.Job) {
			j.Kind, j.ResourceKind, j.ResourceID = job.AvatarPrepare, "avatar", "av_"+strconv.Itoa(n)
		}))
	}
	w.awaitEnd(jobs...)
}
