package database_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

// engine is the one that a transaction through the proxy runs for.
func (w *world) engine(t *testing.T) (engine database.Engine, err error) {
	t.Helper()
	o := database.TxOptions{Opening: func(e database.Engine, _ *pgx.Batch) { engine = e }}
	return engine, w.through.InTx(t.Context(), o, addEffect)
}

func TestAPoolerHidesTheEngine(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	w := newWorld(t)
	w.Cockroach.Store(true)
	w.Hidden.Store(true)
	engine, err := w.engine(t)
	require.NoError(t, err)
	require.Equal(t, database.Cockroach, engine, "what it reports is hidden, what it is not")
	known, err := w.through.Engine(t.Context())
	require.NoError(t, err)
	require.Equal(t, database.Cockroach, known)
}

func TestAnUncertainEngineIsRefused(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	w := newWorld(t)
	w.Cockroach.Store(true)
	w.Hidden.Store(true)
	w.Version.Store(new("PostgreSQL 17.1 on x86_64"))
	before := w.effects(t)
	_, err := w.engine(t)
	var uncertain *database.EngineError
	require.ErrorAs(t, err, &uncertain)
	require.ErrorContains(t, err, "it is not certain")
	require.Equal(t, before, w.effects(t))
	_, err = w.through.Exec(t.Context(), insertEffect)
	require.ErrorAs(t, err, &uncertain, "statements without a transaction too")
	_, err = w.through.Engine(t.Context())
	require.ErrorAs(t, err, &uncertain)
}

func TestAnotherEngineThanBeforeIsRefused(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	w := newWorld(t)
	engine, err := w.engine(t)
	require.NoError(t, err)
	require.Equal(t, database.Postgres, engine)
	w.Cockroach.Store(true)
	w.through.Reset()
	_, err = w.engine(t)
	var other *database.EngineError
	require.ErrorAs(t, err, &other)
	require.ErrorContains(t, err, "led to PostgreSQL")
	w.Cockroach.Store(false)
	_, err = w.engine(t)
	require.NoError(t, err, "it is back where it was")
}

func TestAnOldServerIsRefused(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	w := newWorld(t)
	w.Cockroach.Store(true)
	w.Version.Store(new("CockroachDB CCL v24.3.2 (x86_64-pc-linux-gnu)"))
	_, err := w.engine(t)
	var old *database.UnsupportedError
	require.ErrorAs(t, err, &old)
	require.EqualError(t, old, "CockroachDB 24.3.2 is not supported: PostgreSQL 15 and CockroachDB 25.1 are the oldest that are")
}

func TestIsolationIsWhatStatementsAreWrittenFor(t *testing.T) {
	databasetest.OnlyPostgres(t, "the default is read committed")
	w := newWorld(t)
	_, err := w.direct.Exec(t.Context(), `ALTER DATABASE `+w.direct.Config().ConnConfig.Database+` SET default_transaction_isolation = 'serializable'`)
	require.NoError(t, err)
	w.direct.Reset()
	var isolation string
	require.NoError(t, w.direct.QueryRow(t.Context(), `SHOW transaction_isolation`).Scan(&isolation))
	require.Equal(t, "read committed", isolation)
}
