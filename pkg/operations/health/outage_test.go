package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// A process goes on to be ready, and says so within what a probe waits (3 seconds),
// while a shard it knows answers, whatever else does not.
func TestReadyBesideShardsThatDoNotAnswer(t *testing.T) {
	o := tenanttest.NewOutage(t)
	checker := health.New(o.Directory, o.Tenants)
	require.True(t, checker.Check(t.Context()).Well())
	o.Begin()
	o.FreezeDirectory()
	require.Eventually(t, func() bool {
		began := time.Now()
		state := checker.Check(t.Context())
		took := time.Since(began)
		require.True(t, state.Ready())
		require.True(t, state.Shards[tenanttest.Healthy])
		return took < 3*time.Second && !state.Directory && !state.Shards[tenanttest.Frozen] && !state.Shards[tenanttest.Dead]
	}, time.Minute, 100*time.Millisecond)
}

// A process whose every shard is slower than a check waits is ready all the while: it
// serves them, slowly. One that nothing answers is not.
func TestReadyWhileEveryShardIsSlow(t *testing.T) {
	o := tenanttest.NewOutage(t)
	slow := databasetest.NewFront(t, databasetest.URL(t, database.Shard))
	require.NoError(t, o.Directory.AddShard(t.Context(), "one", slow.URL))
	tenants := tenant.New(o.Directory, database.PoolOptions{MaxConns: 2})
	t.Cleanup(tenants.Close)
	_, err := tenants.Shard(t.Context(), "one")
	require.NoError(t, err)
	checker := health.New(o.Directory, tenants)
	require.Equal(t, health.State{Directory: true, Shards: map[string]bool{"one": true}}, checker.Check(t.Context()))
	slow.Slow(tenanttest.SlowBy)
	for range 5 { // of which each looks anew
		state := checker.Check(t.Context())
		require.True(t, state.Ready(), "%v", state)
		require.True(t, state.Shards["one"])
		checker.Forget()
	}
	slow.Die()
	require.Eventually(t, func() bool { return !checker.Check(t.Context()).Ready() }, time.Minute, 100*time.Millisecond)
}
