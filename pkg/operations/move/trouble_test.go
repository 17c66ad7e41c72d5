package move_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// stayed makes sure that an organization is on the shard a as if nothing had been.
func (w *world) stayed(org id.Org, want map[string][]string) {
	w.Helper()
	require.Equal(w, want, w.everything(org, "a"))
	require.Empty(w, w.everything(org, "b"))
	require.Equal(w, tenant.Open, w.fence("a", org).State)
	require.Zero(w, w.noted(org))
	require.NoError(w, w.write(w.Context(), org, "goes on"))
	require.Zero(w, w.noted(org), "nobody notes any more")
}

func (w *world) noted(org id.Org) (n int) {
	w.Helper()
	require.NoError(w, w.shards["a"].QueryRow(w.Context(), `SELECT count(*) FROM move_dirty WHERE org_id = $1`, org).Scan(&n))
	return n
}

func TestWhatCannotBeMoved(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	org, other := w.organization("a"), w.organization("a")
	reason := func(org id.Org, to string) move.Reason {
		t.Helper()
		var refused *move.Refusal
		require.ErrorAs(t, move.Begin(ctx, w.directory, w.tenants, org, to, "test"), &refused)
		require.NotEmpty(t, refused.Sentence)
		return refused.Reason
	}
	require.Equal(t, move.NoShard, reason(org, "c"))
	require.Equal(t, move.Here, reason(org, "a"))
	require.ErrorIs(t, move.Begin(ctx, w.directory, w.tenants, id.NewOrg(), "b", "test"), directory.ErrUnknown)

	w.begin(org, "b")
	require.Equal(t, move.Moving, reason(org, "b"))
	require.NoError(t, w.advance(w.mover))

	_, err := w.shards["b"].Exec(ctx, `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
	require.NoError(t, err)
	require.Equal(t, move.Schema, reason(other, "b"))
}

func TestNothingMovesBetweenEngines(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	w := newWorld(t)
	org := w.organization("a")
	u, err := url.Parse(databasetest.URL(t, database.Shard))
	require.NoError(t, err)
	p := databasetest.NewProxy(t, u.Host)
	p.Cockroach.Store(true)
	u.Host = p.Address()
	require.NoError(t, w.directory.AddShard(t.Context(), "other", u.String()))
	err = move.Begin(t.Context(), w.directory, w.tenants, org, "other", "test")
	var refused *move.Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, move.Engine, refused.Reason)
	require.EqualError(t, err, "The shard a is on PostgreSQL, the shard other on CockroachDB. Nothing moves between the two.")
}

func TestADestinationThatIsNotEmpty(t *testing.T) {
	w := newWorld(t)
	filled, known := w.organization("a"), w.organization("a")
	w.furnish(filled, "b", 1)
	m := w.moves(filled, "b")
	require.Equal(t, directory.Refused, m.Phase)
	require.Contains(t, m.Problem, "has rows of "+filled.String())
	require.Equal(t, tenant.Open, w.fence("a", filled).State)
	require.NotEmpty(t, w.everything(filled, "b"), "they are somebody's")

	_, err := w.shards["b"].Exec(t.Context(), `INSERT INTO org_fence (org_id, epoch, state, moved_to) VALUES ($1, 1, 'open', '')`, known)
	require.NoError(t, err)
	require.Contains(t, w.moves(known, "b").Problem, "has "+known.String()+" already, as open")
}

func TestTablesThatDiffer(t *testing.T) {
	w := newWorld(t)
	org := w.organization("a")
	_, err := w.shards["b"].Exec(t.Context(), `ALTER TABLE setting ADD COLUMN extra BIGINT`)
	require.NoError(t, err)
	before := w.everything(org, "a")
	m := w.moves(org, "b")
	require.Equal(t, directory.Refused, m.Phase)
	require.Contains(t, m.Problem, "differ")
	w.stayed(org, before)
}

func TestAMoveIsCancelled(t *testing.T) {
	for _, moment := range []string{"FROM pg_catalog.pg_class", "INSERT INTO setting", "DELETE FROM move_dirty"} {
		t.Run(moment, func(t *testing.T) {
			w := newWorld(t, large)
			org := w.organization("a")
			w.furnish(org, "a", 3)
			want := w.everything(org, "a")
			require.ErrorIs(t, w.directory.CancelMove(t.Context(), org), directory.ErrNotMoving)
			w.begin(org, "b")
			w.before(moment, func() { require.NoError(t, w.directory.CancelMove(t.Context(), org)) })
			require.NoError(t, w.advance(w.mover))
			m := w.move(org)
			require.Equal(t, directory.Cancelled, m.Phase)
			require.Empty(t, m.Problem)
			w.stayed(org, want)
			require.Equal(t, directory.Moved, w.moves(org, "b").Phase, "it can be moved again")
			require.ErrorIs(t, w.directory.CancelMove(t.Context(), org), directory.ErrNotMoving, "what is done is done")
		})
	}
}

func TestADamagedRowIsFound(t *testing.T) {
	w := newWorld(t, large)
	org := w.organization("a")
	w.furnish(org, "a", 20)
	want := w.everything(org, "a")
	w.begin(org, "b")
	w.before("DELETE FROM move_dirty", func() {
		for _, sql := range []string{
			`UPDATE setting SET value = '{"damaged": true}' WHERE org_id = $1 AND key = (SELECT min(key) FROM setting)`,
			`DELETE FROM event WHERE org_id = $1 AND id = (SELECT min(id::TEXT)::UUID FROM event)`,
			`INSERT INTO usage_month (org_id, month, seconds) VALUES ($1, '1999-01-01', 1)`,
		} {
			_, err := w.shards["b"].Exec(t.Context(), sql, org)
			require.NoError(t, err)
		}
	})
	require.NoError(t, w.advance(w.mover))
	m := w.move(org)
	require.Equal(t, directory.Moved, m.Phase, m.Problem)
	require.EqualValues(t, 3, move.ProgressOf(m).RowsRepaired)
	require.Equal(t, want, w.everything(org, "b"))
}

func TestACopyThatIsDamagedAgainAndAgain(t *testing.T) {
	w := newWorld(t, large)
	org := w.organization("a")
	w.furnish(org, "a", 2)
	want := w.everything(org, "a")
	w.begin(org, "b")
	var damage func()
	damage = func() {
		_, err := w.shards["b"].Exec(t.Context(), `UPDATE setting SET value = '{"damaged": true}' WHERE org_id = $1`, org)
		require.NoError(t, err)
		w.before("FROM session_command t", damage)
	}
	w.before("DELETE FROM move_dirty", damage)
	require.NoError(t, w.advance(w.mover))
	m := w.move(org)
	require.Equal(t, directory.Refused, m.Phase)
	require.Contains(t, m.Problem, "2 rows on the shard b differ")
	w.stayed(org, want)
}

// What is too slow for the fence is given up there, and done before it.
func TestTheFenceIsHeldForTooLong(t *testing.T) {
	databasetest.OnlyPostgres(t, "LOCK TABLE")
	w := newWorld(t, func(o *move.Options) { o.Hold = 300 * time.Millisecond })
	org := w.organization("a")
	w.furnish(org, "a", 2)
	want := w.everything(org, "a")
	lock, err := w.shards["b"].Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = lock.Rollback(t.Context()) }()
	_, err = lock.Exec(t.Context(), `LOCK TABLE setting IN SHARE ROW EXCLUSIVE MODE`)
	require.NoError(t, err)

	w.begin(org, "b")
	require.ErrorContains(t, w.advance(w.mover), "more than 300ms")
	require.Contains(t, w.move(org).Problem, "more than 300ms")
	require.Equal(t, tenant.Open, w.fence("a", org).State, "by itself")
	require.NoError(t, w.write(t.Context(), org, "meanwhile"))
	require.NoError(t, lock.Rollback(t.Context()))

	w.clock.Step(time.Minute)
	require.NoError(t, w.advance(w.mover))
	m := w.move(org)
	require.Equal(t, directory.Moved, m.Phase, m.Problem)
	require.True(t, move.ProgressOf(m).Large)
	require.Len(t, w.everything(org, "b")["setting"], len(want["setting"])+1)
}

// A destination that dies keeps nobody from working.
func TestTheDestinationDies(t *testing.T) {
	both(t, func(t *testing.T, option func(*move.Options)) {
		for _, moment := range []string{"INSERT INTO setting", "UPDATE org_fence SET epoch", "UPDATE organization SET shard"} {
			w := newWorld(t, option)
			org := w.organization("a")
			w.furnish(org, "a", 2)
			want := w.everything(org, "a")
			w.begin(org, "b")
			w.before(moment, func() { w.power("b", false) })
			require.Error(t, w.advance(w.mover), moment)
			if o, err := w.directory.Organization(t.Context(), org); err == nil && o.Shard == "a" {
				require.NoError(t, w.write(t.Context(), org, "meanwhile"), moment)
				w.clock.Step(time.Minute)
				require.Error(t, w.advance(w.mover), moment)
				require.NoError(t, w.write(t.Context(), org, "meanwhile, again"), moment)
				want["setting"] = append(want["setting"], "", "")
			}
			require.NotEmpty(t, w.move(org).Problem)
			w.power("b", true)
			for range 20 { // connections that died are noticed one by one
				w.clock.Step(time.Hour)
				if w.advance(w.mover) == nil {
					break
				}
			}
			m := w.move(org)
			require.Equal(t, directory.Moved, m.Phase, m.Problem)
			require.Len(t, w.everything(org, "b")["setting"], len(want["setting"]), moment)
		}
	})
}

// power lets a shard's database have connections, or none.
func (w *world) power(shard string, on bool) {
	databasetest.OnlyPostgres(w, "a database that takes no connections")
	w.Helper()
	name := w.shards[shard].Config().ConnConfig.Database
	allow := "false"
	if on {
		allow = "true"
	}
	_, err := w.directory.DB.Exec(w.Context(), `ALTER DATABASE `+pgx.Identifier{name}.Sanitize()+` ALLOW_CONNECTIONS `+allow)
	require.NoError(w, err)
	if !on {
		_, err = w.directory.DB.Exec(w.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name)
		require.NoError(w, err)
	}
	w.shards[shard].Reset()
}

// What a move left behind is kept for a while, unless it is in the way of another.
func TestWhatIsLeftIsKept(t *testing.T) {
	w := newWorld(t, func(o *move.Options) { o.Keep = time.Hour })
	org := w.organization("a")
	w.furnish(org, "a", 2)
	want := w.everything(org, "a")
	m := w.moves(org, "b")
	require.EqualValues(t, "keep", m.Phase)
	require.Equal(t, want, w.everything(org, "a"))
	w.clock.Step(time.Hour)
	require.NoError(t, w.advance(w.mover))
	require.Equal(t, directory.Moved, w.move(org).Phase)
	require.Empty(t, w.everything(org, "a"))

	require.EqualValues(t, "keep", w.moves(org, "a").Phase)
	var refused *move.Refusal
	require.ErrorAs(t, move.Begin(t.Context(), w.directory, w.tenants, org, "b", "test"), &refused)
	require.Contains(t, refused.Sentence, "is deleted first")
	require.NoError(t, w.advance(w.mover))
	require.Equal(t, directory.Moved, w.move(org).Phase)
	require.Empty(t, w.everything(org, "b"))
	w.begin(org, "b")
}
