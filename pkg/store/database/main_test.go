package database_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is a database with a table of effects, seen by the code under test
// through a proxy and by the test directly.
type world struct {
	*databasetest.Proxy
	through, direct *database.DB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	address := databasetest.URL(t, database.Shard)
	direct, err := database.Open(address, database.PoolOptions{})
	require.NoError(t, err)
	t.Cleanup(direct.Close)
	_, err = direct.Exec(context.Background(), `CREATE TABLE effect (note TEXT NOT NULL)`)
	require.NoError(t, err)

	u, err := url.Parse(address)
	require.NoError(t, err)
	p := databasetest.NewProxy(t, u.Host)
	u.Host = p.Address()
	// One connection, so that one left in a bad state is noticed.
	through, err := database.Open(u.String(), database.PoolOptions{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(through.Close)
	return &world{p, through, direct}
}

func (w *world) effects(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, w.direct.QueryRow(context.Background(), `SELECT count(*) FROM effect`).Scan(&n))
	return n
}

// reset forgets the effects and faults of an earlier case.
func (w *world) reset(t *testing.T) {
	t.Helper()
	w.BreakAt("", databasetest.Unsent, 0)
	_, err := w.direct.Exec(context.Background(), `TRUNCATE effect`)
	require.NoError(t, err)
}

// requireUsable fails if the pool's one connection cannot run a transaction.
func (w *world) requireUsable(t *testing.T) {
	t.Helper()
	before := w.effects(t)
	require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{}, addEffect))
	require.Equal(t, before+1, w.effects(t))
}

const insertEffect = `INSERT INTO effect VALUES ('x')`

func addEffect(ctx context.Context, tx database.Tx) error {
	_, err := tx.Exec(ctx, insertEffect)
	return err
}
