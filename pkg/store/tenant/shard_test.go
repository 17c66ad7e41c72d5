package tenant_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
)

// A shard's database gets another address, or its user another password, while
// processes run: what they connect from then on goes there, and what is open is left.
func TestNewConnectionsGoWhereTheShardIs(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	name := func(db *database.DB) (name string) {
		t.Helper()
		require.NoError(t, db.QueryRow(ctx, `SELECT current_database()`).Scan(&name))
		return name
	}
	before, after := name(w.a), name(w.b)
	url, err := w.directory.ShardURL(ctx, "b")
	require.NoError(t, err)

	require.NoError(t, w.directory.AddShard(ctx, "a", url))
	w.clock.Step(time.Minute)
	require.Equal(t, before, name(w.a), "an open connection stays")
	w.LookNow()
	require.Equal(t, after, name(w.a))

	require.NoError(t, w.directory.AddShard(ctx, "a", "postgres://nowhere:port/"))
	w.clock.Step(time.Minute)
	w.LookNow()
	require.Equal(t, before, name(w.a), "what is no URL is not followed")
	w.directory.DB.Close()
	w.clock.Step(time.Minute)
	w.a.Reset()
	require.Equal(t, before, name(w.a), "nor does the directory take a shard with it")
}
