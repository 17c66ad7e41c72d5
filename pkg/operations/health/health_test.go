package health_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestState(t *testing.T) {
	up, down := true, false
	for name, c := range map[string]struct {
		state       health.State
		ready, well bool
	}{
		"nothing asked yet":            {health.State{}, false, false},
		"no shard used yet":            {health.State{Directory: up}, true, true},
		"all":                          {health.State{up, map[string]bool{"a": up, "b": up}}, true, true},
		"a shard away":                 {health.State{up, map[string]bool{"a": up, "b": down}}, true, false},
		"every shard away":             {health.State{up, map[string]bool{"a": down}}, false, false},
		"the directory away":           {health.State{down, map[string]bool{"a": up}}, true, false},
		"the directory and one shard":  {health.State{down, map[string]bool{"a": up, "b": down}}, true, false},
		"all away":                     {health.State{down, map[string]bool{"a": down}}, false, false},
		"the directory, no shard used": {health.State{Directory: down, Shards: map[string]bool{}}, false, false},
	} {
		require.Equal(t, c.ready, c.state.Ready(), name)
		require.Equal(t, c.well, c.state.Well(), name)
	}
}

// deadURL is the address of a server that accepts connections and says nothing.
func deadURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return "postgres://nobody@" + l.Addr().String() + "/none?sslmode=disable"
}

func newDirectory(t *testing.T) *directory.Directory {
	t.Helper()
	return directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: clock.RealClock{}})
}

func newTenants(t *testing.T, d *directory.Directory) *tenant.Tenants {
	t.Helper()
	tenants := tenant.New(d, database.PoolOptions{MaxConns: 2})
	t.Cleanup(tenants.Close)
	return tenants
}

func TestCheck(t *testing.T) {
	ctx := context.Background()
	d := newDirectory(t)
	tenants := newTenants(t, d)
	require.Equal(t, health.State{Directory: true, Shards: map[string]bool{}}, health.New(d, tenants).Check(ctx),
		"shards that were not used are not asked")

	require.NoError(t, d.AddShard(ctx, "alive", databasetest.URL(t, database.Shard)))
	require.NoError(t, d.AddShard(ctx, "silent", deadURL(t)))
	require.NoError(t, d.AddShard(ctx, "unused", deadURL(t)))
	for _, name := range []string{"alive", "silent"} {
		_, err := tenants.Shard(ctx, name)
		require.NoError(t, err)
	}
	checker := health.New(d, tenants)
	require.Equal(t, health.State{Directory: true, Shards: map[string]bool{"alive": true}}, checker.Check(ctx), "a server that says nothing is not waited for")
	require.Eventually(t, func() bool { return len(checker.Check(ctx).Shards) == 2 }, time.Minute, 50*time.Millisecond)
	require.Equal(t, health.State{Directory: true, Shards: map[string]bool{"alive": true, "silent": false}}, checker.Check(ctx))

	require.NoError(t, d.RemoveShard(ctx, "silent", managed.API))
	d.ForgetShard("silent")
	require.Eventually(t, func() bool { return len(checker.Check(ctx).Shards) == 1 }, time.Minute, 50*time.Millisecond,
		"the database of a shard that was removed is nobody's loss")
}

func TestCheckWithoutADirectory(t *testing.T) {
	db, err := database.Open(deadURL(t), database.PoolOptions{})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	d := directory.New(db, directory.Options{Clock: clock.RealClock{}})
	state := health.New(d, newTenants(t, d)).Check(context.Background())
	require.False(t, state.Directory)
	require.False(t, state.Ready())
}

func TestAnAnswerIsKeptForAMoment(t *testing.T) {
	d := newDirectory(t)
	checker := health.New(d, newTenants(t, d))
	first := checker.Check(context.Background())
	require.True(t, first.Well())
	first.Shards["made up"] = false
	d.DB.Close()
	require.True(t, checker.Check(context.Background()).Well(), "neither asked again nor changed by a caller")
	require.Eventually(t, func() bool { return !checker.Check(context.Background()).Well() }, 20*time.Second, 50*time.Millisecond)
}

func TestACallerWhoLeavesDoesNotSpoilTheAnswer(t *testing.T) {
	d := newDirectory(t)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	require.True(t, health.New(d, newTenants(t, d)).Check(gone).Well())
}

func TestFigures(t *testing.T) {
	ctx := context.Background()
	d := newDirectory(t)
	tenants := newTenants(t, d)
	require.NoError(t, d.AddShard(ctx, "alive", databasetest.URL(t, database.Shard)))
	require.NoError(t, d.AddShard(ctx, "silent", deadURL(t)))
	for _, name := range []string{"alive", "silent"} {
		_, err := tenants.Shard(ctx, name)
		require.NoError(t, err)
	}
	checker := health.New(d, tenants)
	require.Eventually(t, func() bool { return len(checker.Check(ctx).Shards) == 2 }, time.Minute, 50*time.Millisecond)
	c := health.NewCollector(checker)
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP visavis_database_up Whether a database that the process has used answers: 1 or 0.
# TYPE visavis_database_up gauge
visavis_database_up{database="alive"} 1
visavis_database_up{database="directory"} 1
visavis_database_up{database="silent"} 0
# HELP visavis_ready Whether the process can answer for anybody: 1 or 0.
# TYPE visavis_ready gauge
visavis_ready 1
`)))

	lost := newDirectory(t)
	lost.DB.Close()
	require.NoError(t, testutil.CollectAndCompare(health.NewCollector(health.New(lost, newTenants(t, lost))), strings.NewReader(`
# HELP visavis_ready Whether the process can answer for anybody: 1 or 0.
# TYPE visavis_ready gauge
visavis_ready 0
`), "visavis_ready"))
}
