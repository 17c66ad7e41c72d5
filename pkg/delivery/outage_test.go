package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/delivery"
	"visavis.dev/pkg/tenant/tenanttest"
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
	began := time.Now()
	for n := 2; n <= 5; n++ {
		w.emit(w.one)
		w.await("/healthy", n)
	}
	late := delivery.New(w.options) // lists the shards while the directory still answers
	late.Start()
	require.Less(t, time.Since(began), 15*time.Second)
	o.FreezeDirectory()
	for n := 6; time.Since(began) < 15*time.Second; n++ { // longer than a lease
		emitted := time.Now()
		w.emit(w.one)
		w.await("/healthy", n)
		require.Less(t, time.Since(emitted), 10*time.Second)
	}
	stopping := time.Now()
	worker.Stop()
	late.Stop()
	require.Less(t, time.Since(stopping), time.Minute)
}
