package webhook_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/config"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/webhook"
	"visavis.dev/pkg/database/databasetest"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/egress"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/rate"
	"visavis.dev/pkg/tenant"
	"visavis.dev/pkg/tenant/tenanttest"
	"visavis.dev/pkg/vault"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

// world is a shard with two organisations, on a clock that the test moves.
type world struct {
	t          *testing.T
	tenants    *tenant.Tenants
	directory  *directory.Directory
	org, other id.Org
	vault      *vault.Vault
	catalogue  *plan.Catalogue
	clock      *clocktest.FakeClock
	workers    workers
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), workers: workers{}}
	w.tenants, w.directory, w.org, w.other = tenanttest.NewDirected(t)
	var err error
	w.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	w.catalogue, err = plan.Parse(config.Plans, rate.SpecRates())
	require.NoError(t, err)
	require.NoError(t, w.directory.SetOverrides(t.Context(), w.org, plan.Overrides{Limits: plan.Limits{plan.Webhooks: nil}}))
	return w
}

func (w *world) rules() webhook.Rules {
	return webhook.Rules{
		Directory: w.directory, Tenants: w.tenants, Vault: w.vault, Catalogue: w.catalogue, Clock: w.clock, Workers: w.workers,
		Guard: egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}),
	}
}
