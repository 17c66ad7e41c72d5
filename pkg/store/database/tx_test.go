package database_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

// maxRuns is how often InTx runs a function at most.
const maxRuns = 8

func raise(code string) string {
	return `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '` + code + `'; END $$`
}

func TestTransactionIsRunAgain(t *testing.T) {
	databasetest.OnlyPostgres(t, "the protocol of its transactions")
	tests := map[string]struct {
		code     string
		failures int
		runs     int
		fails    bool
	}{
		"serialization failure": {"40001", 3, 4, false},
		"deadlock":              {"40P01", 3, 4, false},
		"the server goes away":  {"57P01", 1, 2, false},
		"a standby":             {"25006", 1, 2, false},
		"not for ever":          {"40001", 1000, maxRuns, true},
		"not for a fault":       {"23505", 1, 1, true},
		"not when cancelled":    {"57014", 1, 1, true},
	}
	w := newWorld(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w.reset(t)
			runs := 0
			var xids []string
			err := w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
				runs++
				var xid string
				if err := tx.QueryRow(ctx, `SELECT pg_current_xact_id()::TEXT`).Scan(&xid); err != nil {
					return err
				}
				xids = append(xids, xid)
				if err := addEffect(ctx, tx); err != nil || runs > tt.failures {
					return err
				}
				_, err := tx.Exec(ctx, raise(tt.code))
				return err
			})
			require.Equal(t, tt.runs, runs)
			for i := 1; i < len(xids); i++ {
				require.NotEqual(t, xids[i-1], xids[i], "a run must be a transaction of its own")
			}
			if tt.fails {
				var pg *pgconn.PgError
				require.ErrorAs(t, err, &pg)
				require.Equal(t, tt.code, pg.Code)
				require.Zero(t, w.effects(t))
			} else {
				require.NoError(t, err)
				require.Equal(t, 1, w.effects(t))
			}
			w.requireUsable(t)
		})
	}
}

func TestFurtherRunSeesWhatWasCommittedMeanwhile(t *testing.T) {
	w := newWorld(t)
	var seen []int
	require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM effect`).Scan(&n); err != nil {
			return err
		}
		seen = append(seen, n)
		if len(seen) > 1 {
			return nil
		}
		if _, err := w.direct.Exec(ctx, insertEffect); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, raise("40001"))
		return err
	}))
	require.Equal(t, []int{0, 1}, seen)
}

func TestServerThatStandsDownIsLeft(t *testing.T) {
	databasetest.OnlyPostgres(t, "the protocol of its transactions")
	w := newWorld(t)
	var backends []int
	require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
		var pid int
		if err := tx.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
			return err
		}
		if backends = append(backends, pid); len(backends) > 1 {
			return nil
		}
		_, err := tx.Exec(ctx, raise("25006"))
		return err
	}))
	require.Len(t, backends, 2)
	require.NotEqual(t, backends[0], backends[1])
}

func TestDeadlockIsResolved(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	_, err := w.direct.Exec(ctx, `CREATE TABLE place (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO place VALUES (1, 0), (2, 0)`)
	require.NoError(t, err)
	var (
		barrier, done sync.WaitGroup
		mu            sync.Mutex
		runs          int
		errs          [2]error
	)
	barrier.Add(2)
	for i, order := range [2][2]int{{1, 2}, {2, 1}} {
		done.Go(func() {
			var first sync.Once
			errs[i] = w.direct.InTx(ctx, database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
				mu.Lock()
				runs++
				mu.Unlock()
				if _, err := tx.Exec(ctx, `SET LOCAL deadlock_timeout = '20ms'`); err != nil {
					return err
				}
				const add = `UPDATE place SET n = n + 1 WHERE id = $1`
				if _, err := tx.Exec(ctx, add, order[0]); err != nil {
					return err
				}
				first.Do(func() { barrier.Done(); barrier.Wait() })
				_, err := tx.Exec(ctx, add, order[1])
				return err
			})
		})
	}
	done.Wait()
	require.NoError(t, errors.Join(errs[:]...))
	require.Greater(t, runs, 2, "there was no deadlock")
	var sum []int
	rows, _ := w.direct.Query(ctx, `SELECT n FROM place ORDER BY id`)
	sum, err = pgx.CollectRows(rows, pgx.RowTo[int])
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, sum)
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	refused := errors.New("refused")

	t.Run("by an opening statement", func(t *testing.T) {
		o := database.TxOptions{Opening: func(e database.Engine, b *pgx.Batch) {
			require.Equal(t, database.Postgres, e)
			b.Queue(`INSERT INTO effect VALUES ('opening')`)
			b.Queue(`SELECT 1`).QueryRow(func(pgx.Row) error { return refused })
		}}
		err := w.through.InTx(context.Background(), o, func(context.Context, database.Tx) error {
			t.Error("the function ran")
			return nil
		})
		require.ErrorIs(t, err, refused)
	})
	t.Run("by the function", func(t *testing.T) {
		err := w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
			return errors.Join(addEffect(ctx, tx), refused)
		})
		require.ErrorIs(t, err, refused)
	})
	t.Run("by the closing statements' maker", func(t *testing.T) {
		o := database.TxOptions{Closing: func(b *pgx.Batch) error {
			b.Queue(`INSERT INTO effect VALUES ('closing')`)
			return refused
		}}
		require.ErrorIs(t, w.through.InTx(context.Background(), o, addEffect), refused)
	})
	t.Run("by the server, at a closing statement", func(t *testing.T) {
		o := database.TxOptions{Idempotent: true, Closing: func(b *pgx.Batch) error {
			b.Queue(`INSERT INTO effect VALUES ('closing')`)
			b.Queue(`SELECT 1/0`)
			return nil
		}}
		err := w.through.InTx(context.Background(), o, addEffect)
		require.ErrorContains(t, err, "division by zero")
		require.NotErrorIs(t, err, database.ErrOutcomeUnknown)
	})
	t.Run("by the server, unnoticed by the function", func(t *testing.T) {
		err := w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
			_ = addEffect(ctx, tx)
			_, _ = tx.Exec(ctx, `SELECT 1/0`)
			return nil
		})
		require.ErrorIs(t, err, pgx.ErrTxCommitRollback)
	})
	t.Run("by a panic", func(t *testing.T) {
		require.Panics(t, func() {
			_ = w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
				_ = addEffect(ctx, tx)
				panic("fault")
			})
		})
	})
	require.Zero(t, w.effects(t))
	w.requireUsable(t)
}

// TestClosing: what is queued for the end is committed with the rest.
func TestClosing(t *testing.T) {
	w := newWorld(t)
	runs := 0
	o := database.TxOptions{Closing: func(b *pgx.Batch) error {
		require.Equal(t, 1, runs, "the function is done")
		b.Queue(`INSERT INTO effect VALUES ('closing')`)
		return nil
	}}
	require.NoError(t, w.through.InTx(context.Background(), o, func(ctx context.Context, tx database.Tx) error {
		runs++
		return addEffect(ctx, tx)
	}))
	require.Equal(t, 2, w.effects(t))
	w.requireUsable(t)
}

func TestCallerGoesAway(t *testing.T) {
	t.Run("during a statement", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(context.Background())
		runs := 0
		err := w.through.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
			runs++
			if err := addEffect(ctx, tx); err != nil {
				return err
			}
			cancel()
			return addEffect(ctx, tx)
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 1, runs)
		require.Zero(t, w.effects(t))
		w.requireUsable(t)
	})
	t.Run("before the commit, which goes on", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(context.Background())
		require.NoError(t, w.through.InTx(ctx, database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
			defer cancel()
			return addEffect(ctx, tx)
		}))
		require.Equal(t, 1, w.effects(t))
		w.requireUsable(t)
	})
}
