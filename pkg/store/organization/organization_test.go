package organization_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestCreate(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: clocktest.NewFakeClock(now)})
	tenants := tenant.New(d, database.PoolOptions{})
	t.Cleanup(tenants.Close)
	require.NoError(t, d.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))
	o := directory.Organization{ID: id.NewOrg(), Slug: "one", Shard: "a", Epoch: 1, CreatedAt: now}
	usable := func() error {
		return tenants.InTx(ctx, o.ID, func(context.Context, *tenant.Tx) error { return nil })
	}

	elsewhere := o
	elsewhere.Shard = "nowhere"
	require.ErrorIs(t, organization.Create(ctx, d, tenants, elsewhere), directory.ErrUnknown)
	// A run that broke off after the directory's row.
	require.NoError(t, d.Begin(ctx, o))
	require.True(t, tenant.Unavailable(usable()))
	for range 2 {
		require.NoError(t, organization.Create(ctx, d, tenants, o))
		require.NoError(t, usable())
	}
	var state string
	require.NoError(t, d.DB.QueryRow(ctx, `SELECT state FROM organization WHERE id = $1`, o.ID).Scan(&state))
	require.Equal(t, "active", state)

	twin := o
	twin.ID = id.NewOrg()
	require.ErrorIs(t, organization.Create(ctx, d, tenants, twin), directory.ErrSlugTaken)

	// A repeat after a move does not open the old home again.
	shard, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = shard.Exec(ctx, `UPDATE org_fence SET state = 'moved', epoch = 2, moved_to = 'a'`)
	require.NoError(t, err)
	require.NoError(t, organization.Create(ctx, d, tenants, o))
	require.True(t, tenant.Unavailable(usable()))
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Acme": "acme", " Acme & Sons, Ltd. ": "acme-sons-ltd", "a--b": "a-b", "42": "42",
	} {
		require.Equal(t, want, organization.Slug(name), name)
	}
}
