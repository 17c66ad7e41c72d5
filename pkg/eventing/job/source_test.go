package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// stored is a file that something refers to.
func (w *world) stored() id.File {
	w.t.Helper()
	ctx := context.Background()
	f, err := w.files.Put(ctx, w.one, "text/csv", []byte("text"))
	require.NoError(w.t, err)
	require.NoError(w.t, w.tenants.InTx(ctx, w.one, func(ctx context.Context, tx *tenant.Tx) error { return w.files.Keep(ctx, tx, f) }))
	return f
}

// What a job worked from goes soon after its end, and what came of it with the job.
func TestFilesOfJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	source, result := w.stored(), w.stored()
	which := id.NewJob()
	require.NoError(t, w.tenants.InTx(ctx, w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Insert(ctx, tx, job.Job{
			ID: which, Kind: job.WebhookRecover, Scope: scope.PeopleWrite, CreatedAt: w.now(), Source: source,
		}, 1)
		return err
	}))
	runner := w.runner(func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if j.Done == 1 {
			j.State, j.File, j.Refused = job.Succeeded, result, []job.RefusedLine{{Line: 2, Message: "No."}}
		}
		j.Done++
		return 0, j.Note(ctx, tx, j.Done, map[string]int64{"n": j.Done})
	})
	sources := func() int {
		n, err := job.SweepSources(ctx, w.tenants, w.files, "a")
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, w.advance(runner))
	require.Zero(t, sources(), "it still works")
	require.Equal(t, 1, w.advance(runner))
	done := w.job(w.one, which)
	require.Equal(t, result, done.File)
	require.Equal(t, []job.RefusedLine{{Line: 2, Message: "No."}}, done.Refused)
	notes, err := job.Notes[map[string]int64](ctx, w.tenants, done)
	require.NoError(t, err)
	require.Equal(t, []map[string]int64{{"n": 1}, {"n": 2}}, notes)

	w.fence(w.one, "capture")
	require.Zero(t, sources(), "what is being moved is left alone")
	w.fence(w.one, "open")
	require.Equal(t, 1, sources())
	require.Zero(t, sources())
	require.True(t, w.job(w.one, which).Source.IsZero())
	notes, err = job.Notes[map[string]int64](ctx, w.tenants, done)
	require.NoError(t, err)
	require.Empty(t, notes)
	gone := func(f id.File) bool {
		w.pass(2 * time.Hour)
		_, err := w.files.Sweep(ctx, "a")
		require.NoError(t, err)
		_, err = w.files.Read(ctx, w.one, f)
		return err != nil
	}
	require.True(t, gone(source))
	require.False(t, gone(result))

	w.pass(job.Retention)
	n, err := job.Sweep(ctx, w.tenants, w.files, "a", w.now())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.True(t, gone(result))
}
