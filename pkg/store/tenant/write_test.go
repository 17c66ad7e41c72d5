package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

func (w *world) counter(t *testing.T, org id.Org, name string) (n int64) {
	t.Helper()
	var found bool
	require.NoError(t, w.Read(context.Background(), org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&n}, `SELECT value FROM org_counter WHERE org_id = $1 AND name = $2`, org, name)
	}))
	return n
}

func TestIncrementNeverExceedsItsLimit(t *testing.T) {
	const contenders, limit = 20, 7
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	var (
		group  sync.WaitGroup
		taken  atomic.Int64
		failed atomic.Pointer[error]
	)
	for i := range contenders {
		group.Go(func() {
			var full bool
			err := w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
				if full, err = tx.Increment(ctx, "things", limit, true); full || err != nil {
					return err
				}
				return setIn(ctx, tx, fmt.Sprint(i))
			})
			if err != nil {
				failed.Store(&err)
			}
			if !full {
				taken.Add(1)
			}
		})
	}
	group.Wait()
	require.Nil(t, failed.Load())
	require.EqualValues(t, limit, taken.Load())
	require.EqualValues(t, limit, w.counter(t, org, "things"))
	require.Len(t, w.settings(t, org), limit)
}

func TestCounter(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	type step struct {
		limit   int64
		limited bool
		full    bool
		value   int64
	}
	up := func(s step) {
		t.Helper()
		require.NoError(t, w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			full, err := tx.Increment(ctx, "things", s.limit, s.limited)
			require.Equal(t, s.full, full)
			return err
		}))
		require.Equal(t, s.value, w.counter(t, org, "things"))
	}
	down := func(want int64) {
		t.Helper()
		require.NoError(t, w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error { return tx.Decrement(ctx, "things") }))
		require.Equal(t, want, w.counter(t, org, "things"))
	}
	up(step{0, true, true, 0})
	up(step{1, true, false, 1})
	up(step{1, true, true, 1})
	up(step{0, false, false, 2})
	up(step{2, true, true, 2})
	down(1)
	up(step{2, true, false, 2})
	down(1)
	down(0)
	down(0)
}

func TestOrganizationsDoNotSeeEachOther(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	one, two := w.organization(t), w.organization(t)
	require.NoError(t, w.set(ctx, one, "shared name"))
	require.NoError(t, w.set(ctx, two, "shared name"))
	require.NoError(t, w.set(ctx, two, "two's own"))
	require.NoError(t, w.InTx(ctx, two, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Increment(ctx, "things", 1, true)
		return err
	}))
	require.Equal(t, []string{"shared name"}, w.settings(t, one))
	require.Equal(t, []string{"shared name", "two's own"}, w.settings(t, two))
	require.Zero(t, w.counter(t, one, "things"))

	// One's move does not touch two.
	fence(t, w.b, one, 2, "open", "")
	fence(t, w.a, one, 2, "moved", "b")
	require.Empty(t, w.settings(t, one))
	require.Len(t, w.settings(t, two), 2)
}

func TestReadReportsWhatFailed(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	fault := errors.New("cannot use this")
	err := w.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(pgx.Rows) error { return fault }, `SELECT 1`)
		r.Query(func(pgx.Rows) error { return nil }, `SELECT 2`)
	})
	require.ErrorIs(t, err, fault)
	require.Error(t, w.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(pgx.Rows) error { return nil }, `SELECT 1/0`)
	}))
	// Neither says anything where the organization no longer lives.
	fence(t, w.b, org, 2, "open", "")
	fence(t, w.a, org, 2, "moved", "b")
	asked := 0
	require.NoError(t, w.Read(ctx, org, func(r *tenant.Reads) {
		asked++
		r.Query(func(pgx.Rows) error {
			if asked == 1 {
				return fault
			}
			return nil
		}, `SELECT 1`)
	}))
	require.Equal(t, 2, asked)
}

func TestOptionsReachTheTransaction(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	runs := 0
	require.NoError(t, w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if runs++; runs > 1 {
			return setIn(ctx, tx, "kept")
		}
		require.NoError(t, setIn(ctx, tx, "undone"))
		_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '40001'; END $$`)
		return err
	}, tenant.Idempotent(true)))
	require.Equal(t, 2, runs)
	require.Equal(t, []string{"kept"}, w.settings(t, org))
}

func TestSweepRowsPassesByWhoMoves(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	still, moving := w.organization(t), w.organization(t)
	for _, org := range []id.Org{still, moving} {
		require.NoError(t, w.set(ctx, org, "old"))
	}
	fence(t, w.a, moving, 1, "capture", "")
	n, err := w.SweepRows(ctx, "a", `DELETE FROM setting s USING org_fence f WHERE f.org_id = s.org_id AND f.state = 'open'`)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Empty(t, w.settings(t, still))
	require.Len(t, w.settings(t, moving), 1)
	_, err = w.SweepRows(ctx, "nowhere", `SELECT 1`)
	require.Error(t, err)
	require.Len(t, w.Opened(), 2)
}
