package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
)

// A runner makes its share of the jobs and leaves the others, however they wait before its
// own.
func TestShares(t *testing.T) {
	t.Parallel()
	for share, want := range map[job.Share][3]job.State{
		job.Reading: {job.Succeeded, job.Queued, job.Queued},
		job.Rest:    {job.Queued, job.Succeeded, job.Succeeded},
		job.Whole:   {job.Succeeded, job.Succeeded, job.Succeeded},
	} {
		t.Run("share "+string(share), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			reads := w.insert(w.one, heavy)
			heavily := w.insert(w.one, func(j *job.Job) { j.Kind = job.Simulate })
			quickly := w.insert(w.two)
			r := w.heavyRunner(job.Work{Prepare: ending})
			r.Works[job.Simulate] = job.Work{Prepare: ending}
			r.Share = share
			db, err := w.tenants.Shard(t.Context(), "a")
			require.NoError(t, err)
			oldest, err := job.Oldest(t.Context(), db, share, w.now())
			require.NoError(t, err)
			require.False(t, oldest.IsZero())
			for w.advance(r) > 0 {
			}
			require.Equal(t, want, [3]job.State{w.job(w.one, reads).State, w.job(w.one, heavily).State, w.job(w.two, quickly).State})
			oldest, err = job.Oldest(t.Context(), db, share, w.now())
			require.NoError(t, err)
			require.True(t, oldest.IsZero(), "nothing of its share waits")
		})
	}
}
