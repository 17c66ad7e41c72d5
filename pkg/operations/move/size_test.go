package move_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
)

// CockroachDB takes no message of more than 16 MiB.
func TestLargeRowsMove(t *testing.T) {
	both(t, func(t *testing.T, option func(*move.Options)) {
		w := newWorld(t, option, func(o *move.Options) { o.Page, o.Hold = 1000, time.Minute })
		u, err := url.Parse(databasetest.URL(t, database.Shard))
		require.NoError(t, err)
		p := databasetest.NewProxy(t, u.Host)
		u.Host = p.Address()
		require.NoError(t, w.directory.AddShard(t.Context(), "far", u.String()))
		w.shards["far"], err = w.tenants.Shard(t.Context(), "far")
		require.NoError(t, err)

		org := w.organization("a")
		w.furnish(org, "a", 1)
		exec := func(sql string, args ...any) {
			t.Helper()
			_, err := w.shards["a"].Exec(t.Context(), sql, append([]any{org}, args...)...)
			require.NoError(t, err)
		}
		exec(`
			INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
			SELECT $1, 'org', '', 'large ' || n, to_jsonb(repeat('x', 3 << 20)), now(), 'test' FROM generate_series(1, 8) AS g (n)`)
		exec(`
			INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
			SELECT $1, 'org', '', n::TEXT, '{}', now(), 'test' FROM generate_series(1, 300) AS g (n)`)
		// Twice as long where it is written as text.
		exec(`UPDATE idempotency_record SET answer = decode(repeat('00ff', 5 << 20), 'hex') WHERE org_id = $1`)
		if w.large {
			w.before("DELETE FROM move_dirty", func() {
				exec(`INSERT INTO move_dirty (org_id, table_name, pk) SELECT org_id, 'setting', 'org//' || replace(key, ' ', '%20') FROM setting
					WHERE org_id = $1 AND key LIKE 'large%' ON CONFLICT DO NOTHING`)
			})
		}
		want := w.everything(org, "a")
		m := w.moves(org, "far")
		require.Equal(t, directory.Moved, m.Phase, m.Problem)
		require.Equal(t, want, w.everything(org, "far"))
		require.Less(t, p.Largest.Load(), int64(12<<20))
		require.Greater(t, p.Largest.Load(), int64(10<<20), "the one row")
	})
}
