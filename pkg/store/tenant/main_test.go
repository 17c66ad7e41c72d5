package tenant_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test takes place.
var now = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

// world is a directory with the shards a and b.
type world struct {
	directory *directory.Directory
	clock     *clock.FakeClock
	*tenant.Tenants
	a, b *database.DB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{clock: clock.NewFakeClock(now)}
	w.directory = directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: w.clock})
	w.Tenants = tenant.New(w.directory, database.PoolOptions{})
	t.Cleanup(w.Close)
	for name, db := range map[string]**database.DB{"a": &w.a, "b": &w.b} {
		require.NoError(t, w.directory.AddShard(ctx, name, databasetest.URL(t, database.Shard)))
		var err error
		*db, err = w.Shard(ctx, name)
		require.NoError(t, err)
	}
	return w
}

// organization makes an organization on shard a at epoch 1.
func (w *world) organization(t *testing.T) id.Org {
	t.Helper()
	o := directory.Organization{ID: id.NewOrg(), Shard: "a", Epoch: 1, CreatedAt: now}
	o.Slug = o.ID.Bare()
	require.NoError(t, organization.Create(context.Background(), w.directory, w.Tenants, o))
	return o.ID
}

// fence sets what a shard says of an organization.
func fence(t *testing.T, db *database.DB, org id.Org, epoch int64, state, movedTo string) {
	t.Helper()
	_, err := db.Exec(context.Background(), `
		INSERT INTO org_fence (org_id, epoch, state, moved_to) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id) DO UPDATE SET epoch = $2, state = $3, moved_to = $4`, org, epoch, state, movedTo)
	require.NoError(t, err)
}

// set writes a setting through the tenants, as a row that can be found again.
func (w *world) set(ctx context.Context, org id.Org, key string) error {
	return w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error { return setIn(ctx, tx, key) })
}

func setIn(ctx context.Context, tx *tenant.Tx, key string) error {
	tx.Touch("setting", part("org"), part(""), part(key))
	_, err := tx.Exec(ctx, `
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		VALUES ($1, 'org', '', $2, '{}', $3, 'test')`, tx.Org, key, now)
	return err
}

type part string

func (p part) String() string { return string(p) }

// settings reads the organization's settings through the tenants.
func (w *world) settings(t *testing.T, org id.Org) []string {
	t.Helper()
	var keys []string
	require.NoError(t, w.Read(context.Background(), org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}, `SELECT key FROM setting WHERE org_id = $1 ORDER BY key`, org)
	}))
	return keys
}

// settingsOn reads an organization's settings on one shard, past every guard.
func settingsOn(t *testing.T, db *database.DB, org id.Org) []string {
	t.Helper()
	rows, _ := db.Query(context.Background(), `SELECT key FROM setting WHERE org_id = $1 ORDER BY key`, org)
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return keys
}
