package limits_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

// minute is the number of the first minute.
var minute = start.Unix() / 60

// contend lets pods of several askers each take as long as tokens are left.
func contend(t *testing.T, table limits.Table, k limits.Counter, pods int, limit int64) int64 {
	t.Helper()
	c := newClock()
	var (
		group   sync.WaitGroup
		granted atomic.Int64
		failed  atomic.Bool
	)
	for range pods {
		l := newLimiter(table, c, int64(pods))
		for range 3 {
			group.Go(func() {
				for range limit + 1 {
					r, err := l.Take(context.Background(), k, limit)
					failed.CompareAndSwap(false, err != nil || r.Degraded)
					if err != nil || r.Refused {
						return
					}
					granted.Add(1)
				}
			})
		}
	}
	group.Wait()
	require.False(t, failed.Load())
	return granted.Load()
}

func TestPodsTogetherGrantTheLimit(t *testing.T) {
	for range 20 {
		require.EqualValues(t, 100, contend(t, newMemory(newClock()), address, 8, 100))
	}
}

func TestTables(t *testing.T) {
	ctx := context.Background()
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: newClock()})
	tenants := tenant.New(d, database.PoolOptions{})
	t.Cleanup(tenants.Close)
	require.NoError(t, d.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))
	org := id.NewOrg()
	require.NoError(t, organization.Create(ctx, d, tenants, directory.Organization{ID: org, Slug: "a", Shard: "a", Epoch: 1, CreatedAt: start}))
	table := &limits.Tables{Directory: d, Tenants: tenants}

	for name, k := range map[string]limits.Counter{
		"address":      address,
		"key":          {Org: org, Holder: "key", Class: rate.Read},
		"organization": {Org: org, Holder: limits.HolderOrg, Class: rate.Read},
	} {
		t.Run(name, func(t *testing.T) {
			inOneWindow(t, table, k, func() {
				require.EqualValues(t, 60, contend(t, table, k, 8, 60))
				w, err := table.Take(ctx, k, 5, 60)
				require.NoError(t, err)
				require.Zero(t, w.Took)
				require.NoError(t, table.Return(ctx, k, 20, w.Minute-1), "a minute that is over")
				require.NoError(t, table.Return(ctx, k, 20, w.Minute))
				w, err = table.Take(ctx, k, 50, 60)
				require.NoError(t, err)
				require.EqualValues(t, 20, w.Took)
				require.EqualValues(t, 60, w.Granted)
				require.LessOrEqual(t, w.Left, time.Minute)
				require.Positive(t, w.Left)
			})
		})
	}
	n, err := limits.Sweep(ctx, d)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = d.DB.Exec(ctx, `UPDATE address_window SET minute = minute - 6`)
	require.NoError(t, err)
	n, err = limits.Sweep(ctx, d)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// inOneWindow waits for the next window if the database's is about to end.
func inOneWindow(t *testing.T, table limits.Table, k limits.Counter, work func()) {
	t.Helper()
	k.Holder += " probe"
	require.Eventually(t, func() bool {
		w, err := table.Take(context.Background(), k, 0, 1)
		return err == nil && w.Left > 15*time.Second
	}, 40*time.Second, 50*time.Millisecond)
	_, err := table.(*limits.Tables).Directory.DB.Exec(context.Background(), `DELETE FROM address_window WHERE address = $1`, k.Holder)
	require.NoError(t, err)
	work()
}

func TestUnusedTokensComeBack(t *testing.T) {
	c := newClock()
	m := newMemory(c)
	l := newLimiter(m, c, 1)
	// A quick pace makes the pod take more than it needs.
	takeMany(t, l, 20, 1000)
	c.Step(time.Millisecond)
	takeMany(t, l, 2, 1000)
	require.Greater(t, m.in(minute), int64(22))

	l.Start()
	defer l.Stop()
	require.Eventually(t, c.HasWaiters, 20*time.Second, time.Millisecond)
	c.Step(250 * time.Millisecond)
	require.Eventually(t, func() bool { return m.in(minute) == 22 }, 20*time.Second, time.Millisecond)
}

func TestStopGivesBack(t *testing.T) {
	c := newClock()
	m := newMemory(c)
	l := newLimiter(m, c, 1)
	l.Start()
	l.PutBack(address, take(t, l, 10))
	require.EqualValues(t, 1, m.in(minute))
	l.Stop()
	require.Zero(t, m.in(minute))
}

func TestRefusalLastsUntilTheWindowEnds(t *testing.T) {
	c := newClock()
	m := newMemory(c)
	l := newLimiter(m, c, 1)
	c.Step(20 * time.Second)
	require.EqualValues(t, 3, takeMany(t, l, 4, 3))
	trips := m.count()
	for range 10 {
		r := take(t, l, 3)
		require.True(t, r.Refused)
		require.Equal(t, 40*time.Second, r.Reset)
		require.Zero(t, r.Remaining)
	}
	require.Equal(t, trips, m.count(), "a refusal costs no trip")
	c.Step(40*time.Second - 1)
	require.True(t, take(t, l, 3).Refused)
	c.Step(1)
	r := take(t, l, 3)
	require.False(t, r.Refused)
	require.EqualValues(t, 2, r.Remaining)
	require.Equal(t, time.Minute, r.Reset)
}

// A limit that is raised is so at once, not at the next window.
func TestARaisedLimitHoldsAtOnce(t *testing.T) {
	c := newClock()
	l := newLimiter(newMemory(c), c, 1)
	require.EqualValues(t, 3, takeMany(t, l, 4, 3))
	r := take(t, l, 10)
	require.False(t, r.Refused)
	require.EqualValues(t, 10, r.Limit)
	require.EqualValues(t, 6, takeMany(t, l, 10, 10))
	require.True(t, take(t, l, 3).Refused, "and one that is lowered")
}

func TestPutBackFreesAPlace(t *testing.T) {
	c := newClock()
	l := newLimiter(newMemory(c), c, 1)
	first := take(t, l, 2)
	require.EqualValues(t, 1, takeMany(t, l, 2, 2))
	l.PutBack(address, first)
	require.EqualValues(t, 1, takeMany(t, l, 3, 2))
	c.Step(time.Minute)
	require.False(t, take(t, l, 2).Refused)
	l.PutBack(address, first) // of a window that is over, though the pod is in the next
	require.EqualValues(t, 1, takeMany(t, l, 3, 2))
}

func TestWithoutTheTable(t *testing.T) {
	const limit, pods, share = 20, 4, 5
	c := newClock()
	m := newMemory(c)
	l := newLimiter(m, c, pods)
	m.fail(errAway)
	for i := range 10 {
		r := take(t, l, limit)
		require.True(t, r.Degraded)
		require.Equal(t, i >= share, r.Refused, i)
		require.LessOrEqual(t, r.Reset, time.Minute)
	}
	require.Equal(t, 1, m.count(), "a table that is away is left alone for a while")
	m.fail(nil)
	c.Step(time.Second)
	require.False(t, take(t, l, limit).Degraded)

	// In the next minute the table answers first and is away then.
	c.SetTime(start.Add(time.Minute))
	require.False(t, take(t, l, limit).Degraded)
	m.fail(errAway)
	for i := range share + 1 {
		r := take(t, l, limit)
		require.True(t, r.Degraded)
		require.Equal(t, i >= share, r.Refused, i)
	}
}

func TestWaitersShareOneTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const askers = 10
		c := newClock()
		m := newMemory(c)
		m.gate = make(chan struct{})
		l := newLimiter(m, c, 1)
		ctx, cancel := context.WithCancel(context.Background())
		first := make(chan error, 1)
		go func() { _, err := l.Take(ctx, address, 100); first <- err }()
		synctest.Wait()
		var group sync.WaitGroup
		for range askers {
			group.Go(func() { _, _ = l.Take(context.Background(), address, 100) })
		}
		synctest.Wait()
		require.Equal(t, 1, m.count(), "one trip at a time")
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		close(m.gate)
		group.Wait()
		// The one who left had a token, which another used; the rest came together.
		require.Equal(t, 2, m.count())
		require.EqualValues(t, askers, m.in(minute))
	})
}

func TestNeverMoreThanTheLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		m := newMemory(c)
		limit := rapid.Int64Range(1, 30).Draw(rt, "limit")
		pods := make([]*limits.Limiter, rapid.IntRange(1, 5).Draw(rt, "pods"))
		for i := range pods {
			pods[i] = newLimiter(m, c, int64(len(pods)))
		}
		granted := map[int64]int64{}
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			pod := pods[rapid.IntRange(0, len(pods)-1).Draw(rt, "pod")]
			now := c.Now().Unix() / 60
			switch rapid.SampledFrom([]string{"take", "take", "take", "take back", "wait"}).Draw(rt, "step") {
			case "wait":
				c.Step(time.Duration(rapid.Int64Range(1, 20_000).Draw(rt, "ms")) * time.Millisecond)
			case "take back":
				if r, _ := pod.Take(context.Background(), address, limit); !r.Refused {
					pod.PutBack(address, r)
				}
			default:
				if r, _ := pod.Take(context.Background(), address, limit); !r.Refused {
					granted[now]++
				}
			}
			require.LessOrEqual(rt, granted[now], limit)
			require.LessOrEqual(rt, m.in(now), limit)
		}
	})
}
