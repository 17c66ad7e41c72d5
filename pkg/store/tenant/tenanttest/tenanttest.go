// Package tenanttest gives the tests of a store a shard with organizations.
package tenanttest

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

// Now is when every test begins.
var Now = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

// New is one shard, named a, with two organizations.
func New(t *testing.T) (tenants *tenant.Tenants, one, two id.Org) {
	t.Helper()
	tenants, _, one, two = with(t, database.PoolOptions{})
	return tenants, one, two
}

// NewDirected is New, with the directory that the organizations are found by.
func NewDirected(t *testing.T) (tenants *tenant.Tenants, d *directory.Directory, one, two id.Org) {
	t.Helper()
	return with(t, database.PoolOptions{})
}

// NewTraced is New, with a record of the statements that are sent.
func NewTraced(t *testing.T) (tenants *tenant.Tenants, sent *Statements, one, two id.Org) {
	t.Helper()
	sent = &Statements{}
	tenants, _, one, two = with(t, database.PoolOptions{Tracer: sent})
	return tenants, sent, one, two
}

func with(t *testing.T, pool database.PoolOptions) (tenants *tenant.Tenants, d *directory.Directory, one, two id.Org) {
	t.Helper()
	ctx := context.Background()
	d = directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: clocktest.NewFakeClock(Now)})
	tenants = tenant.New(d, pool)
	t.Cleanup(tenants.Close)
	require.NoError(t, d.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))
	one, two = id.NewOrg(), id.NewOrg()
	for _, org := range []id.Org{one, two} {
		require.NoError(t, organization.Create(ctx, d, tenants,
			directory.Organization{ID: org, Slug: org.Bare(), Shard: "a", Epoch: 1, CreatedAt: Now}))
	}
	return tenants, d, one, two
}
