package move_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a directory with the shards a and b, seen by those who use them and by a mover.
type world struct {
	*testing.T
	directory *directory.Directory
	tenants   *tenant.Tenants
	shards    map[string]*database.DB
	clock     *clocktest.FakeClock
	// mover works through pools of its own, whose statements tracer sees.
	mover *move.Mover
	again func() *move.Mover
	large bool
	*tracer
	fill []string
	seed atomic.Int64
}

// large makes every move one of a large organization.
func large(o *move.Options) { o.Small = -1 }

func newWorld(t *testing.T, options ...func(*move.Options)) *world {
	t.Helper()
	w := &world{T: t, clock: clocktest.NewFakeClock(now), tracer: &tracer{}, shards: map[string]*database.DB{}}
	url := databasetest.URL(t, database.Directory)
	w.directory, w.tenants = w.open(url, database.PoolOptions{})
	for _, name := range []string{"a", "b"} {
		require.NoError(t, w.directory.AddShard(t.Context(), name, databasetest.URL(t, database.Shard)))
		db, err := w.tenants.Shard(t.Context(), name)
		require.NoError(t, err)
		w.shards[name] = db
	}
	o := move.Options{Clock: w.clock, Log: slog.New(slog.DiscardHandler), Keep: -1, RowsPerSecond: 1_000_000, Page: 7, Lease: time.Minute}
	o.Directory, o.Tenants = w.open(url, database.PoolOptions{Tracer: w.tracer})
	for _, option := range options {
		option(&o)
	}
	w.large = o.Small < 0
	w.again = func() *move.Mover { return move.New(o) }
	w.mover = w.again()
	w.fill = w.statements()
	return w
}

// open opens a directory and the tenants that it finds.
func (w *world) open(url string, pool database.PoolOptions) (*directory.Directory, *tenant.Tenants) {
	db, err := database.Open(url, pool)
	require.NoError(w, err)
	w.Cleanup(db.Close)
	d := directory.New(db, directory.Options{Clock: w.clock})
	tenants := tenant.New(d, pool)
	w.Cleanup(tenants.Close)
	return d, tenants
}

// organization makes one on a shard.
func (w *world) organization(shard string) id.Org {
	w.Helper()
	o := directory.Organization{ID: id.NewOrg(), Shard: shard, Epoch: 1, CreatedAt: now}
	o.Slug = o.ID.Bare()
	require.NoError(w, organization.Create(w.Context(), w.directory, w.tenants, o))
	return o.ID
}

// statements make a row in each table, with something in each column, some of it hard to
// carry.
func (w *world) statements() (all []string) {
	values := map[string]string{
		"uuid": `'%[2]s'`, "text": `E'x\u00e9\n\t\\"%[3]d'`, "int8": `9007199254740993 + %[3]d`, "timestamptz": `'2026-07-08 14:00:00.123456+02'`,
		"jsonb": `'{"b": [1, null, "x\n"], "a": 1.10, "n": 12345678901234567890.123}'`, "bytea": `'\x00ff5c' || convert_to('%[3]d', 'UTF8')`, "bool": `true`,
		"_text": `ARRAY['a,b', NULL, '', '"{}"']`, "_int8": `ARRAY[9007199254740993 + %[3]d, NULL]::BIGINT[]`, "_uuid": `ARRAY['%[2]s']::UUID[]`, "date": `DATE '2026-01-01' + %[3]d`, "float8": `0.1::FLOAT8 + 0.2::FLOAT8`, "float4": `0.1`,
		"numeric": `12345678901234567890.0123456789 + %[3]d`,
	}
	rows, _ := w.shards["a"].Query(w.Context(), `
		SELECT table_name, column_name, udt_name, is_nullable = 'YES' FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name <> 'org_id'`)
	type column struct {
		Table, Name, Type string
		Nullable          bool
	}
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	require.NoError(w, err)
	for _, table := range tenant.Tables {
		if table.Stays {
			continue
		}
		names, with := []string{"org_id"}, []string{"'%[1]s'"}
		for i, c := range columns {
			if c.Table != table.Name || c.Nullable && i%3 == 0 && c.Name != "consent_id" {
				continue
			}
			require.Contains(w, values, c.Type, c.Table)
			names, with = append(names, c.Name), append(with, values[c.Type])
		}
		all = append(all, "INSERT INTO "+table.Name+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(with, ", ")+") ON CONFLICT DO NOTHING")
	}
	slices.Reverse(all)
	return all
}

// furnish gives an organization some rows of everything.
func (w *world) furnish(org id.Org, shard string, times int) {
	w.Helper()
	for range times {
		same, n := uuid.NewString(), w.seed.Add(1)
		for _, sql := range w.fill {
			_, err := w.shards[shard].Exec(w.Context(), fmt.Sprintf(sql+" -- %[1]s %[2]s %[3]d", uuid.UUID(org), same, n))
			require.NoError(w, err, sql)
		}
	}
}

// everything is all that a shard has of an organization that moves, by table.
func (w *world) everything(org id.Org, shard string) map[string][]string {
	w.Helper()
	found := map[string][]string{}
	batch := &pgx.Batch{}
	for _, t := range tenant.Tables {
		if t.Stays {
			continue
		}
		batch.Queue(`SELECT (t.*)::TEXT FROM `+t.Name+` t WHERE org_id = $1 ORDER BY 1`, org).Query(func(rows pgx.Rows) error {
			all, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if len(all) > 0 {
				found[t.Name] = all
			}
			return err
		})
	}
	require.NoError(w, w.shards[shard].SendBatch(w.Context(), batch).Close())
	return found
}

// begin asks for a move.
func (w *world) begin(org id.Org, to string) {
	w.Helper()
	require.NoError(w, move.Begin(w.Context(), w.directory, w.tenants, org, to, "test"))
}

// advance lets a mover go on until there is nothing to do at this moment.
func (w *world) advance(m *move.Mover) (failed error) {
	w.Helper()
	for range 10_000 {
		found, err := m.Advance(w.Context())
		if err != nil {
			return err
		}
		if !found {
			return nil
		}
	}
	w.Fatal("the move goes round in circles")
	return nil
}

// moves moves an organization, and answers how it ended.
func (w *world) moves(org id.Org, to string) directory.Move {
	w.Helper()
	w.begin(org, to)
	require.NoError(w, w.advance(w.mover))
	return w.move(org)
}

func (w *world) move(org id.Org) directory.Move {
	w.Helper()
	m, err := w.directory.MoveOf(w.Context(), org)
	require.NoError(w, err)
	return m
}

// fence is what a shard says of an organization.
func (w *world) fence(shard string, org id.Org) tenant.Fence {
	w.Helper()
	f, err := w.tenants.Fence(w.Context(), shard, org)
	require.NoError(w, err)
	return f
}

// both runs a test with a small and with a large organization.
func both(t *testing.T, test func(t *testing.T, option func(*move.Options))) {
	t.Run("small", func(t *testing.T) { test(t, func(*move.Options) {}) })
	t.Run("large", func(t *testing.T) { test(t, large) })
}

// touch is a write as the stores make it.
func (w *world) write(ctx context.Context, org id.Org, key string) error {
	return w.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("setting", word("org"), word(""), word(key))
		_, err := tx.Exec(ctx, `
			INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
			VALUES ($1, 'org', '', $2, '{}', $3, 'test')`, tx.Org, key, now)
		return err
	})
}

type word string

func (w word) String() string { return string(w) }

// tracer fails statements, does something before one of them, and notes transactions.
type tracer struct {
	databasetest.Crash
	mu   sync.Mutex
	text string
	do   func()
	// noted are the transactions on a database, and open those that are under way.
	database string
	noted    [][]string
	open     map[*pgx.Conn][]string
}

// before has something done before the next statement that contains a text.
func (t *tracer) before(text string, do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text, t.do = text, do
}

// transactions answers the statements of the transactions that were noted, and notes those
// on a database from now on.
func (t *tracer) transactions(database string) (noted [][]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	noted = t.noted
	t.database, t.noted, t.open = database, nil, map[*pgx.Conn][]string{}
	return noted
}

// note notes a statement. The lock is held.
func (t *tracer) note(conn *pgx.Conn, sql string) {
	if t.database == "" || conn.Config().Database != t.database {
		return
	}
	all, within := t.open[conn]
	all = append(all, sql)
	switch {
	case strings.HasPrefix(sql, "BEGIN"), within && sql != "COMMIT" && sql != "ROLLBACK":
		t.open[conn] = all
	default:
		delete(t.open, conn)
		t.noted = append(t.noted, all)
	}
}

func (t *tracer) TraceQueryStart(ctx context.Context, conn *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	t.met(conn, d.SQL)
	return t.Crash.TraceQueryStart(ctx, conn, d)
}

func (t *tracer) TraceBatchStart(ctx context.Context, conn *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	for _, q := range d.Batch.QueuedQueries {
		t.met(conn, q.SQL)
	}
	return t.Crash.TraceBatchStart(ctx, conn, d)
}

func (t *tracer) met(conn *pgx.Conn, sql string) {
	t.mu.Lock()
	t.note(conn, sql)
	do := t.do
	if do != nil && strings.Contains(sql, t.text) {
		t.do = nil
	} else {
		do = nil
	}
	t.mu.Unlock()
	if do != nil {
		do()
	}
}
