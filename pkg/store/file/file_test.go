package file_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

type world struct {
	*file.Store
	bucket   *blob.Bucket
	tenants  *tenant.Tenants
	clock    *clocktest.FakeClock
	org, two id.Org
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{bucket: memblob.OpenBucket(nil), clock: clocktest.NewFakeClock(now)}
	t.Cleanup(func() { require.NoError(t, w.bucket.Close()) })
	w.tenants, w.org, w.two = tenanttest.New(t)
	w.Store = file.New(w.bucket, w.tenants, w.clock)
	return w
}

type change func(context.Context, *tenant.Tx, ...id.File) error

func (w *world) in(org id.Org, c change, files ...id.File) error {
	return w.tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error { return c(ctx, tx, files...) })
}

func (w *world) put(t *testing.T, text string) id.File {
	t.Helper()
	f, err := w.Put(context.Background(), w.org, "text/plain", []byte(text))
	require.NoError(t, err)
	return f
}

func (w *world) sweep(t *testing.T) int {
	t.Helper()
	n, err := w.Sweep(context.Background(), "a")
	require.NoError(t, err)
	return n
}

func (w *world) rows(t *testing.T) (n int) {
	t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(context.Background(), `SELECT count(*) FROM file`).Scan(&n))
	return n
}

func TestLifeOfAFile(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	kept, lost := w.put(t, "kept"), w.put(t, "lost")
	require.NoError(t, w.in(w.org, w.Keep, kept))
	require.Error(t, w.in(w.org, w.Keep, kept), "kept already")
	require.Error(t, w.in(w.two, w.Discard, kept), "another organization's")
	require.Error(t, w.in(w.org, w.Discard, lost), "never kept")

	require.Zero(t, w.sweep(t), "not yet")
	w.clock.Step(time.Hour + time.Second)
	require.Equal(t, 1, w.sweep(t))
	require.Equal(t, 1, w.rows(t))
	body, err := w.Read(ctx, w.org, kept)
	require.NoError(t, err)
	require.Equal(t, "kept", string(body))
	_, err = w.Read(ctx, w.two, kept)
	require.Error(t, err)
	_, err = w.Read(ctx, w.org, lost)
	require.Error(t, err)
	require.Error(t, w.in(w.org, w.Keep, lost), "swept")

	require.NoError(t, w.in(w.org, w.Discard, kept))
	require.Equal(t, 1, w.sweep(t), "what was let go of is deleted at once")
	require.Zero(t, w.rows(t))
	require.Zero(t, w.sweep(t))
}

// The pieces of a recorded session are deleted in one sweep, side by side.
func TestSweepDeletesMany(t *testing.T) {
	w := newWorld(t)
	var pieces []id.File
	for range 60 {
		pieces = append(pieces, w.put(t, "piece"))
	}
	kept := w.put(t, "joined")
	require.NoError(t, w.in(w.org, w.Keep, append(pieces, kept)...))
	require.NoError(t, w.in(w.org, w.Discard, pieces...))
	require.Equal(t, len(pieces), w.sweep(t))
	require.Equal(t, 1, w.rows(t))
	_, err := w.Read(t.Context(), w.org, kept)
	require.NoError(t, err)
	_, err = w.Read(t.Context(), w.org, pieces[0])
	require.Error(t, err)
}

func TestSweepFinishesWhatBrokeOff(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	f := w.put(t, "x")
	// The process died after it deleted the file and before it deleted the row.
	require.NoError(t, w.bucket.Delete(ctx, w.org.String()+"/"+f.String()))
	w.clock.Step(2 * time.Hour)
	require.Equal(t, 1, w.sweep(t))
	require.Zero(t, w.rows(t))
}

// TestSweepLeavesWhatIsBeingKept lets the sweep find a file while the
// transaction that keeps it is under way.
func TestSweepLeavesWhatIsBeingKept(t *testing.T) {
	databasetest.OnlyPostgres(t, "it looks at the locks")
	w := newWorld(t)
	f := w.put(t, "dear")
	w.clock.Step(2 * time.Hour)
	swept := make(chan error, 1)
	require.NoError(t, w.tenants.InTx(context.Background(), w.org, func(ctx context.Context, tx *tenant.Tx) error {
		if err := w.Keep(ctx, tx, f); err != nil {
			return err
		}
		go func() {
			_, err := w.Sweep(context.Background(), "a")
			swept <- err
		}()
		require.Eventually(t, func() bool {
			var waiting bool
			err := tx.QueryRow(ctx, `
				SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))`).Scan(&waiting)
			return err == nil && waiting
		}, 20*time.Second, 5*time.Millisecond, "the sweep did not come to the file")
		return nil
	}))
	require.NoError(t, <-swept)
	body, err := w.Read(context.Background(), w.org, f)
	require.NoError(t, err)
	require.Equal(t, "dear", string(body))
}
