package removal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/operations/removal"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var (
	now  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mine = managed.Resource{Kind: "Organisation", Namespace: "acme", Name: "main", UID: "1"}.By()
)

type world struct {
	*removal.Remover
	crash  *databasetest.Crash
	bucket *blob.Bucket
	shard  *database.DB
	// fill has a statement for each table, with %[1]s for the organization.
	fill string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, clock := context.Background(), clocktest.NewFakeClock(now)
	w := &world{crash: &databasetest.Crash{}, bucket: memblob.OpenBucket(nil)}
	t.Cleanup(func() { require.NoError(t, w.bucket.Close()) })
	pool := database.PoolOptions{Tracer: w.crash}
	db, err := database.Open(databasetest.URL(t, database.Directory), pool)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	d := directory.New(db, directory.Options{Clock: clock})
	tenants := tenant.New(d, pool)
	t.Cleanup(tenants.Close)
	require.NoError(t, d.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))
	w.shard, err = tenants.Shard(ctx, "a")
	require.NoError(t, err)
	w.Remover = &removal.Remover{Directory: d, Tenants: tenants, Files: file.New(w.bucket, tenants, clock), Clock: clock}
	w.fill = w.statements(t)
	return w
}

// statements make a row in each table, with something in each column that needs it.
func (w *world) statements(t *testing.T) string {
	t.Helper()
	values := map[string]string{
		"uuid": `'` + uuid.NewString() + `'`, "text": `'x'`, "bigint": `1`, "integer": `1`, "timestamp with time zone": `now()`, "jsonb": `'{}'`,
		"bytea": `'x'`, "boolean": `false`, "ARRAY": `'{}'`, "date": `'2026-11-21'`, "double precision": `1`, "real": `1`, "numeric": `1`,
	}
	rows, _ := w.shard.Query(context.Background(), `
		SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = 'public' AND is_nullable = 'NO' AND column_default IS NULL AND column_name <> 'org_id'`)
	type column struct{ Table, Name, Type string }
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	require.NoError(t, err)
	var all []string
	for _, table := range tenant.Tables {
		names, with := []string{"org_id"}, []string{"'%[1]s'"}
		for _, c := range columns {
			if c.Table == table.Name {
				require.Contains(t, values, c.Type, c.Table)
				names, with = append(names, c.Name), append(with, values[c.Type])
			}
		}
		all = append(all, "INSERT INTO "+table.Name+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(with, ", ")+") ON CONFLICT DO NOTHING") // some are there from the beginning
	}
	slices.Reverse(all) // what others refer to is there first
	return strings.Join(all, "; ")
}

// organization makes one that has something of everything.
func (w *world) organization(t *testing.T) id.Org {
	t.Helper()
	ctx := context.Background()
	o := directory.Organization{ID: id.NewOrg(), Shard: "a", Epoch: 1, CreatedAt: now, ManagedBy: mine}
	o.Slug = o.ID.Bare()
	require.NoError(t, organization.Create(ctx, w.Directory, w.Tenants, o))
	_, err := w.shard.Exec(ctx, fmt.Sprintf(w.fill, uuid.UUID(o.ID)))
	require.NoError(t, err)
	secret := apikey.NewSecret(apikey.Live)
	keys := &apikey.Store{DB: w.Directory.DB}
	require.NoError(t, keys.Insert(ctx, apikey.Key{ID: id.NewKey(), Org: o.ID, Contract: contract.Latest, CreatedAt: now}, secret.Hash()))
	taken, err := w.Directory.Claim(ctx, directory.Address{Kind: directory.Slug, Name: o.Slug}, directory.Claim{Org: o.ID, Portal: id.NewPortal(), At: now})
	require.NoError(t, err)
	require.False(t, taken)
	require.NoError(t, w.bucket.WriteAll(ctx, o.ID.String()+"/one", []byte("x"), nil))
	return o.ID
}

// remains counts what there is of an organization, by where it is.
func (w *world) remains(t *testing.T, org id.Org) map[string]int {
	t.Helper()
	ctx, found := context.Background(), map[string]int{}
	count := func(db *database.DB, table, column string) {
		var n int
		require.NoError(t, db.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE `+column+` = $1`, org).Scan(&n))
		if n > 0 {
			found[table] = n
		}
	}
	for _, table := range tenant.Tables {
		count(w.shard, table.Name, "org_id")
	}
	count(w.shard, "org_fence", "org_id")
	count(w.Directory.DB, "organization", "id")
	count(w.Directory.DB, "api_key", "org_id")
	count(w.Directory.DB, "portal_address", "org_id")
	count(w.Directory.DB, "api_key_secret s JOIN api_key k ON k.id = s.key_id", "k.org_id")
	there, err := w.bucket.Exists(ctx, org.String()+"/one")
	require.NoError(t, err)
	if there {
		found["files"] = 1
	}
	return found
}

func TestDelete(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org, other := w.organization(t), w.organization(t)
	whole := w.remains(t, other)
	require.Len(t, whole, len(tenant.Tables)+6)

	_, err := w.Delete(ctx, org, managed.API, 1)
	require.NoError(t, err)
	require.Equal(t, whole, w.remains(t, org), "it is a resource's to delete")

	left, err := w.Delete(ctx, org, mine, 1)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, w.remains(t, org))
	require.Equal(t, whole, w.remains(t, other))
	left, err = w.Delete(ctx, org, mine, 1)
	require.NoError(t, err)
	require.Empty(t, left, "and again")
}

func TestDeleteInBatches(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	_, err := w.shard.Exec(ctx, `INSERT INTO org_counter (org_id, name, value) SELECT $1, n::TEXT, 1 FROM generate_series(1, 2500) n`, org)
	require.NoError(t, err)
	left, err := w.Delete(ctx, org, mine, 1)
	require.NoError(t, err)
	require.Equal(t, "rows of org_counter", left)
	require.Equal(t, 1501, w.remains(t, org)["org_counter"])
	require.ErrorIs(t, w.Tenants.InTx(ctx, org, func(context.Context, *tenant.Tx) error { return nil }), directory.ErrUnknown)
	left, err = w.Delete(ctx, org, mine, 2)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, w.remains(t, org))
}

func TestOneThatNeverOpened(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	o := directory.Organization{ID: id.NewOrg(), Slug: "new", Shard: "a", Epoch: 1, CreatedAt: now, ManagedBy: mine}
	require.NoError(t, w.Directory.Begin(ctx, o))
	left, err := w.Delete(ctx, o.ID, mine, 1)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, w.remains(t, o.ID))
}

// A process that dies at any statement leaves what the next one ends.
func TestDeleteAfterACrash(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	for at := 1; ; at++ {
		org := w.organization(t)
		w.crash.Arm(at)
		_, err := w.Delete(ctx, org, mine, 1)
		if !w.crash.Arm(0) {
			require.NoError(t, err)
			require.Greater(t, at, len(tenant.Tables), "every statement was tried")
			return
		}
		left, err := w.Delete(ctx, org, mine, 1)
		require.NoError(t, err, "after statement %d", at)
		require.Empty(t, left)
		require.Empty(t, w.remains(t, org), "after statement %d", at)
	}
}
