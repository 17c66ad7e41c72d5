package tenant_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
)

// setMany writes a setting of an organization in a transaction of several.
func setMany(ctx context.Context, tx *tenant.ManyTx, org id.Org, key string) error {
	tx.Touch(org, "setting", part("org"), part(""), part(key))
	_, err := tx.Exec(ctx, `
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		VALUES ($1, 'org', '', $2, '{}', $3, 'test')`, org, key, now)
	return err
}

// dirty are the keys that were noted for a move, of every organization.
func dirty(t *testing.T, db *database.DB) map[id.Org][]string {
	t.Helper()
	rows, err := db.Query(context.Background(), `SELECT org_id, table_name || ':' || pk FROM move_dirty ORDER BY 1, 2`)
	require.NoError(t, err)
	var (
		org   id.Org
		note  string
		notes = map[id.Org][]string{}
	)
	_, err = pgx.ForEachRow(rows, []any{&org, &note}, func() error {
		notes[org] = append(notes[org], note)
		return nil
	})
	require.NoError(t, err)
	return notes
}

func TestSeveralOrganizationsInOneTransaction(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	open, captured, fenced, moved := w.organization(t), w.organization(t), w.organization(t), w.organization(t)
	fence(t, w.a, captured, 1, "capture", "")
	fence(t, w.a, fenced, 1, "fenced", "")
	fence(t, w.a, moved, 2, "moved", "b")
	unknown := id.NewOrg()
	all := []id.Org{open, captured, fenced, moved, unknown, open}
	require.NoError(t, w.InManyTx(ctx, "a", all, func(ctx context.Context, tx *tenant.ManyTx) error {
		for org, want := range map[id.Org]bool{open: true, captured: true, fenced: false, moved: false, unknown: false, id.NewOrg(): false} {
			require.Equal(t, want, tx.Open(org))
			if !tx.Open(org) {
				continue
			}
			for _, key := range []string{"one", "two"} {
				if err := setMany(ctx, tx, org, key); err != nil {
					return err
				}
			}
			tx.Touch(org, "setting", part("org"), part(""), part("one")) // noted before
		}
		return nil
	}))
	for _, org := range []id.Org{open, captured} {
		require.Equal(t, []string{"one", "two"}, settingsOn(t, w.a, org))
	}
	require.Equal(t, map[id.Org][]string{captured: {"setting:org//one", "setting:org//two"}}, dirty(t, w.a),
		"what nobody copies is not noted")

	require.NoError(t, w.InManyTx(ctx, "a", nil, func(context.Context, *tenant.ManyTx) error { return nil }))
	require.Error(t, w.InManyTx(ctx, "nowhere", all, func(context.Context, *tenant.ManyTx) error { return nil }))
}

func TestNothingOfSeveralIsKeptAfterAnError(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	one, two := w.organization(t), w.organization(t)
	fence(t, w.a, one, 1, "capture", "")
	err := w.InManyTx(ctx, "a", []id.Org{one, two}, func(ctx context.Context, tx *tenant.ManyTx) error {
		require.NoError(t, setMany(ctx, tx, one, "undone"))
		require.NoError(t, setMany(ctx, tx, two, "undone"))
		return context.Canceled
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, settingsOn(t, w.a, one))
	require.Empty(t, settingsOn(t, w.a, two))
	require.Empty(t, dirty(t, w.a))
}

// What a run that is undone learned of the fences and touched says nothing of
// the next.
func TestAFurtherRunOfSeveralSeesTheFencesAsTheyAre(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	leaving, coming, still := w.organization(t), w.organization(t), w.organization(t)
	fence(t, w.a, leaving, 1, "capture", "")
	fence(t, w.a, coming, 1, "fenced", "")
	fence(t, w.a, still, 1, "capture", "")
	type fences struct{ leaving, coming, still bool }
	var seen []fences
	require.NoError(t, w.InManyTx(ctx, "a", []id.Org{leaving, coming, still}, func(ctx context.Context, tx *tenant.ManyTx) error {
		seen = append(seen, fences{tx.Open(leaving), tx.Open(coming), tx.Open(still)})
		if len(seen) == 2 {
			return setMany(ctx, tx, still, "kept")
		}
		require.NoError(t, setMany(ctx, tx, leaving, "undone"))
		require.NoError(t, setMany(ctx, tx, still, "undone"))
		fence(t, w.a, leaving, 2, "moved", "b")
		fence(t, w.a, coming, 1, "open", "")
		_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '40001'; END $$`)
		return err
	}))
	require.Equal(t, []fences{{true, false, true}, {false, true, true}}, seen)
	require.Empty(t, settingsOn(t, w.a, leaving))
	require.Equal(t, []string{"kept"}, settingsOn(t, w.a, still))
	require.Equal(t, map[id.Org][]string{still: {"setting:org//kept"}}, dirty(t, w.a))
}

// advisory counts the advisory locks of a kind in this test's database.
func advisory(t *testing.T, db *database.DB, condition string) (n int) {
	databasetest.OnlyPostgres(t, "advisory locks")
	t.Helper()
	require.NoError(t, db.QueryRow(context.Background(), `
		SELECT count(*) FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND `+condition).Scan(&n))
	return n
}

// awaitWaiting returns once so many wait for an advisory lock.
func awaitWaiting(t *testing.T, db *database.DB, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return advisory(t, db, "NOT granted") == n }, 20*time.Second, time.Millisecond)
}

// taken is a mover's transaction that holds organizations' locks until it ends.
func taken(t *testing.T, db *database.DB, orgs ...id.Org) pgx.Tx {
	databasetest.OnlyPostgres(t, "advisory locks")
	t.Helper()
	ctx := context.Background()
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(ctx) })
	for _, org := range orgs {
		_, err = tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, moveKey(org))
		require.NoError(t, err)
	}
	return tx
}

func TestSeveralWaitForAMove(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	moving, still := w.organization(t), w.organization(t)
	mover := taken(t, w.a, moving)
	_, err := mover.Exec(ctx, `UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, moving)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		done <- w.InManyTx(ctx, "a", []id.Org{still, moving}, func(ctx context.Context, tx *tenant.ManyTx) error {
			for _, org := range []id.Org{still, moving} {
				if tx.Open(org) {
					if err := setMany(ctx, tx, org, "written"); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}()
	awaitWaiting(t, w.a, 1)
	require.Empty(t, done)
	require.NoError(t, mover.Commit(ctx))
	require.NoError(t, <-done)
	require.Empty(t, settingsOn(t, w.a, moving), "the fence that the mover left is seen")
	require.Equal(t, []string{"written"}, settingsOn(t, w.a, still))
}

func TestAMoveWaitsForSeveral(t *testing.T) {
	databasetest.OnlyPostgres(t, "advisory locks")
	w, ctx := newWorld(t), context.Background()
	one, two := w.organization(t), w.organization(t)
	began, end, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- w.InManyTx(ctx, "a", []id.Org{one, two}, func(ctx context.Context, tx *tenant.ManyTx) error {
			close(began)
			if err := setMany(ctx, tx, two, "in time"); err != nil {
				return err
			}
			<-end
			return nil
		})
	}()
	<-began
	var seen int
	fenced := make(chan error, 1)
	go func() {
		fenced <- pgx.BeginFunc(ctx, w.a, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, moveKey(two)); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `SELECT count(*) FROM setting WHERE org_id = $1`, two).Scan(&seen)
		})
	}()
	awaitWaiting(t, w.a, 1)
	require.Empty(t, fenced)
	close(end)
	require.NoError(t, <-done)
	require.NoError(t, <-fenced)
	require.Equal(t, 1, seen, "the mover copies what was under way")
}

// Two transactions over the same organizations take their locks in one order,
// whatever the order they are named in: while either waits for the first lock
// it holds none that others wait for.
func TestSeveralLockInOneOrder(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	orgs := []id.Org{w.organization(t), w.organization(t), w.organization(t)}
	slices.SortFunc(orgs, func(a, b id.Org) int { return int(min(max(moveKey(a)/2-moveKey(b)/2, -1), 1)) })
	first := taken(t, w.a, orgs[0])
	backwards := slices.Clone(orgs)
	slices.Reverse(backwards)
	done := make(chan error, 2)
	for _, named := range [][]id.Org{orgs, backwards} {
		go func() {
			done <- w.InManyTx(ctx, "a", named, func(context.Context, *tenant.ManyTx) error { return nil })
		}()
	}
	awaitWaiting(t, w.a, 2)
	require.Zero(t, advisory(t, w.a, "granted AND mode = 'ShareLock'"))
	require.NoError(t, taken(t, w.a, orgs[1], orgs[2]).Rollback(ctx))
	require.NoError(t, first.Rollback(ctx))
	for range 2 {
		require.NoError(t, <-done)
	}
}

// Batches that overlap, and moves between them, all come to an end.
func TestOverlappingBatchesAllCommit(t *testing.T) {
	databasetest.OnlyPostgres(t, "advisory locks")
	const rounds = 25
	w, ctx := newWorld(t), context.Background()
	one, two, three := w.organization(t), w.organization(t), w.organization(t)
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		runs   int
		failed []error
	)
	note := func(err error) {
		if err != nil {
			mu.Lock()
			failed = append(failed, err)
			mu.Unlock()
		}
	}
	for _, orgs := range [][]id.Org{{one, two}, {two, three, one}, {three, two}, {one, three}} {
		group.Go(func() {
			for range rounds {
				note(w.InManyTx(ctx, "a", orgs, func(context.Context, *tenant.ManyTx) error {
					mu.Lock()
					runs++
					mu.Unlock()
					return nil
				}))
			}
		})
	}
	for _, org := range []id.Org{one, two, three} {
		group.Go(func() {
			for range rounds {
				note(pgx.BeginFunc(ctx, w.a, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, moveKey(org))
					return err
				}))
			}
		})
	}
	group.Wait()
	require.Empty(t, failed)
	require.Equal(t, 4*rounds, runs, "none had to be run again")
}
