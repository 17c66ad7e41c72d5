package delivery_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// Shards that do not answer, and a directory that does not, hold no delivery of another
// shard up, and none begins late because a worker was started meanwhile.
func TestDeliveriesArriveBesideShardsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	o := tenanttest.NewOutage(t)
	w := newWorldOf(t, o.Tenants, o.Orgs[tenanttest.Healthy], o.Orgs[tenanttest.Frozen])
	w.options.Clock, w.options.Shards = clock.RealClock{}, o.Shards
	w.hook(w.one, "/healthy")
	w.hook(w.two, "/frozen")
	worker := delivery.New(w.options)
	worker.Start()
	w.emit(w.one)
	w.emit(w.two)
	w.await("/healthy", 1)
	w.await("/frozen", 1)

	o.Begin()
	n := 1
	deliver := func() {
		n++
		w.emit(w.one)
		w.await("/healthy", n)
	}
	o.Beside(t, deliver)
	late := delivery.New(w.options) // lists the shards while the directory still answers
	late.Start()
	for owners(t, o) < 2 { // it has taken its share of the lanes
		deliver()
	}
	o.FreezeDirectory()
	o.Beside(t, deliver)
	// Leases go on to be renewed: to beyond what held when the directory froze.
	for held := heldUntil(t, o); !heldUntil(t, o).After(held.Add(lease)); {
		deliver()
	}
	var stopping sync.WaitGroup
	stopping.Go(worker.Stop)
	stopping.Go(late.Stop)
	stopping.Wait() // although what is frozen stays so
}

// lease is how long a worker keeps its lanes unless told otherwise.
const lease = 10 * time.Second

// owners is how many workers deliver on the healthy shard, and heldUntil when the first
// of their leases ends.
func owners(t *testing.T, o *tenanttest.Outage) (n int) {
	t.Helper()
	require.NoError(t, o.Behind(tenanttest.Healthy).QueryRow(t.Context(),
		`SELECT count(DISTINCT owner) FROM delivery_lane WHERE lease_until > now()`).Scan(&n))
	return n
}

func heldUntil(t *testing.T, o *tenanttest.Outage) (until time.Time) {
	t.Helper()
	require.NoError(t, o.Behind(tenanttest.Healthy).QueryRow(t.Context(),
		`SELECT min(lease_until) FROM delivery_lane WHERE owner IS NOT NULL`).Scan(&until))
	return until
}
