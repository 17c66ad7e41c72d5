package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/health"
	"visavis.dev/pkg/tenant/tenanttest"
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
		require.Less(t, time.Since(began), 2500*time.Millisecond)
		require.True(t, state.Ready())
		require.True(t, state.Shards[tenanttest.Healthy])
		return !state.Directory && !state.Shards[tenanttest.Frozen] && !state.Shards[tenanttest.Dead]
	}, 20*time.Second, 100*time.Millisecond)
}
