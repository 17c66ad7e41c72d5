package apikey_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/config"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test begins.
var now = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

// world is an organization with keys.
type world struct {
	*apikey.Store
	*apikey.Authenticator
	changes *apikey.Changes
	tenants *tenant.Tenants
	clock   *clocktest.FakeClock
	org     id.Org
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{clock: clocktest.NewFakeClock(now), org: id.NewOrg()}
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: w.clock})
	w.tenants = tenant.New(d, database.PoolOptions{})
	t.Cleanup(w.tenants.Close)
	require.NoError(t, d.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))
	require.NoError(t, organization.Create(ctx, d, w.tenants,
		directory.Organization{ID: w.org, Slug: "one", Shard: "a", Epoch: 1, Plan: "team", CreatedAt: now}))
	plans, err := plan.Parse(config.Plans, rate.SpecRates())
	require.NoError(t, err)
	w.Store = &apikey.Store{DB: d.DB}
	w.Authenticator = apikey.NewAuthenticator(w.Store, plans, apikey.Options{Clock: w.clock, Log: slog.New(slog.DiscardHandler)})
	w.changes = &apikey.Changes{Store: w.Store, Tenants: w.tenants}
	return w
}

func (w *world) key() apikey.Key {
	return apikey.Key{
		ID: id.NewKey(), Org: w.org, Name: "k", Contract: contract.V20261001, Environment: apikey.Live,
		FullAccess: true, CreatedBy: "test", CreatedAt: w.clock.Now(),
	}
}

// insert makes a key and answers its secret.
func (w *world) insert(t *testing.T, k apikey.Key) apikey.Secret {
	t.Helper()
	s := apikey.NewSecret(apikey.Live)
	k.Last4 = s.Last4()
	require.NoError(t, w.Insert(context.Background(), k, s.Hash()))
	return s
}

func (w *world) requireOpens(t *testing.T, s apikey.Secret) {
	t.Helper()
	p, err := w.Authenticate(context.Background(), string(s))
	require.NoError(t, err)
	require.Equal(t, w.org, p.Org.ID)
}

func (w *world) requireRefused(t *testing.T, s apikey.Secret) {
	t.Helper()
	_, err := w.Authenticate(context.Background(), string(s))
	require.ErrorIs(t, err, apikey.ErrUnauthorized)
}
