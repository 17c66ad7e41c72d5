package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
)

func TestOldest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	db, err := w.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	oldest := func() time.Time {
		t.Helper()
		at, err := job.Oldest(ctx, db, job.Whole, w.now())
		require.NoError(t, err)
		return at
	}
	require.Zero(t, oldest())
	j := w.insert(w.one, heavy)
	at := w.now()
	w.insert(w.two)
	_, err = db.Exec(ctx, `UPDATE job SET due_at = $2 WHERE id = $1`, j, at.Add(-time.Minute))
	require.NoError(t, err)
	require.True(t, oldest().Equal(at.Add(-time.Minute)))
	_, err = db.Exec(ctx, `UPDATE org_fence SET state = 'moved' WHERE org_id = $1`, w.one)
	require.NoError(t, err)
	require.True(t, oldest().Equal(at), "no runner takes those of an organization that moved")
}
