package database_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestLostConnection(t *testing.T) {
	const commit = "COMMIT\x00" // not that of READ COMMITTED
	tests := map[string]struct {
		at         string
		when       databasetest.Moment
		times      int
		idempotent bool
		runs       int
		effects    int
		unknown    bool
	}{
		"at BEGIN":                       {"BEGIN", databasetest.Unsent, 1, false, 1, 1, false},
		"at a statement":                 {"INSERT", databasetest.Unsent, 1, false, 2, 1, false},
		"after a statement":              {"INSERT", databasetest.Unanswered, 1, false, 2, 1, false},
		"at many statements":             {"INSERT", databasetest.Unsent, 3, false, 4, 1, false},
		"at every statement":             {"INSERT", databasetest.Unsent, 1000, true, maxRuns, 0, false},
		"before COMMIT":                  {commit, databasetest.Unsent, 1, false, 1, 0, true},
		"before COMMIT, idempotent":      {commit, databasetest.Unsent, 1, true, 2, 1, false},
		"after COMMIT":                   {commit, databasetest.Unanswered, 1, false, 1, 1, true},
		"after COMMIT, idempotent":       {commit, databasetest.Unanswered, 1, true, 2, 1, false},
		"after some COMMITs, idempotent": {commit, databasetest.Unanswered, 3, true, 4, 1, false},
		"at every COMMIT, idempotent":    {commit, databasetest.Unanswered, 1000, true, maxRuns, 1, true},
	}
	w := newWorld(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w.reset(t)
			w.BreakAt(tt.at, tt.when, tt.times)
			runs := 0
			err := w.through.InTx(context.Background(), database.TxOptions{Idempotent: tt.idempotent},
				func(ctx context.Context, tx database.Tx) error {
					runs++
					if !tt.idempotent {
						return addEffect(ctx, tx)
					}
					_, err := tx.Exec(ctx, `INSERT INTO effect SELECT 'once' WHERE NOT EXISTS (SELECT FROM effect)`)
					return err
				})
			require.Equal(t, tt.runs, runs)
			// The server may still be busy with what a broken connection sent.
			require.Equal(t, tt.effects, w.effects(t))
			switch {
			case tt.unknown:
				require.ErrorIs(t, err, database.ErrOutcomeUnknown)
				require.True(t, database.Unavailable(err))
			case tt.times >= maxRuns:
				require.Error(t, err)
				require.NotErrorIs(t, err, database.ErrOutcomeUnknown)
				require.True(t, database.Unavailable(err))
			default:
				require.NoError(t, err)
			}
			w.BreakAt("", databasetest.Unsent, 0)
			w.requireUsable(t)
		})
	}
}

// TestLostConnectionAtTheEnd: statements that go with COMMIT are lost with it, and nobody
// knows how far the server came.
func TestLostConnectionAtTheEnd(t *testing.T) {
	databasetest.OnlyPostgres(t, "elsewhere they have a trip of their own")
	w := newWorld(t)
	closing := func(b *pgx.Batch) error {
		b.Queue(`INSERT INTO effect SELECT $1::TEXT WHERE NOT EXISTS (SELECT FROM effect)`, "once")
		return nil
	}
	nothing := func(context.Context, database.Tx) error { return nil }
	for name, tt := range map[string]struct {
		when       databasetest.Moment
		idempotent bool
	}{
		"before":             {databasetest.Unsent, false},
		"after":              {databasetest.Unanswered, false},
		"before, idempotent": {databasetest.Unsent, true},
		"after, idempotent":  {databasetest.Unanswered, true},
	} {
		t.Run(name, func(t *testing.T) {
			w.reset(t)
			// The statements are prepared first.
			require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{Closing: closing}, nothing))
			w.reset(t)
			w.BreakAt("once", tt.when, 1)
			err := w.through.InTx(context.Background(), database.TxOptions{Idempotent: tt.idempotent, Closing: closing}, nothing)
			if tt.idempotent {
				require.NoError(t, err)
				require.Equal(t, 1, w.effects(t))
			} else {
				require.ErrorIs(t, err, database.ErrOutcomeUnknown)
			}
			w.BreakAt("", databasetest.Unsent, 0)
			w.requireUsable(t)
		})
	}
}

func TestServerEndsConnection(t *testing.T) {
	databasetest.OnlyPostgres(t, "pg_terminate_backend")
	w := newWorld(t)
	runs := 0
	require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
		if runs++; runs == 1 {
			var pid int
			if err := tx.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
				return err
			}
			if _, err := w.direct.Exec(ctx, `SELECT pg_terminate_backend($1)`, pid); err != nil {
				return err
			}
		}
		return addEffect(ctx, tx)
	}))
	require.Equal(t, 2, runs)
	require.Equal(t, 1, w.effects(t))
}

// TestOnCockroach runs the protocol that is spoken to CockroachDB, where
// RELEASE is what commits, against a server that only says it is one.
func TestOnCockroach(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	const release = "RELEASE SAVEPOINT"
	tests := map[string]struct {
		at         string
		when       databasetest.Moment
		swallowed  string
		idempotent bool
		runs       int
		unknown    bool
		code       string
	}{
		"undisturbed":                 {runs: 1},
		"at a statement":              {at: "INSERT", runs: 2},
		"before RELEASE":              {at: release, runs: 1, unknown: true},
		"before RELEASE, idempotent":  {at: release, idempotent: true, runs: 2},
		"after RELEASE":               {at: release, when: databasetest.Unanswered, runs: 1, unknown: true},
		"an error that was swallowed": {swallowed: "23505", runs: 1, code: "25P02"},
	}
	w := newWorld(t)
	w.Cockroach.Store(true)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w.reset(t)
			if tt.at != "" {
				w.BreakAt(tt.at, tt.when, 1)
			}
			runs := 0
			o := database.TxOptions{Idempotent: tt.idempotent, Opening: func(e database.Engine, b *pgx.Batch) {
				require.Equal(t, database.Cockroach, e)
				b.Queue(`SELECT 1`)
			}}
			err := w.through.InTx(context.Background(), o, func(ctx context.Context, tx database.Tx) error {
				runs++
				if tt.swallowed != "" {
					_, _ = tx.Exec(ctx, raise(tt.swallowed))
				} else if err := addEffect(ctx, tx); err != nil {
					return err
				}
				return nil
			})
			require.Equal(t, tt.runs, runs)
			switch {
			case tt.unknown:
				require.ErrorIs(t, err, database.ErrOutcomeUnknown)
				require.Zero(t, w.effects(t))
			case tt.code != "":
				var pg *pgconn.PgError
				require.ErrorAs(t, err, &pg)
				require.Equal(t, tt.code, pg.Code)
				require.NotErrorIs(t, err, database.ErrOutcomeUnknown)
			default:
				require.NoError(t, err)
				require.Equal(t, 1, w.effects(t))
			}
		})
	}
}

func TestOnCockroachRetries(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	w := newWorld(t)
	w.Cockroach.Store(true)
	runs := 0
	require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
		if err := addEffect(ctx, tx); err != nil {
			return err
		}
		if runs++; runs > 3 {
			return nil
		}
		_, err := tx.Exec(ctx, raise("40001"))
		return err
	}))
	require.Equal(t, 4, runs)
	require.Equal(t, 1, w.effects(t))
}
