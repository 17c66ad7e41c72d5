package dashboard

import (
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

// Whatever is asked is a sum of cells. So nothing tells of fewer than six people, if no cell
// ever changes by what fewer than six did: neither a look before and one after, nor a unit
// beside its portal, nor an hour beside its day.
func TestNoCellChangesByFewerThanSix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		people := make([]uuid.UUID, rapid.IntRange(1, 11).Draw(t, "people"))
		for i := range people {
			people[i] = uuid.New()
		}
		portal, units := id.NewPortal(), []id.Unit{{}, id.NewUnit(), id.NewUnit()}
		c := &counting{cells: map[place]counts{}, waiting: map[group]map[uuid.UUID]counts{}, changed: map[waiter]bool{}}
		since := map[id.Unit]map[uuid.UUID]int64{{}: {}, units[1]: {}, units[2]: {}}
		at := time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			u := rapid.SampledFrom(units).Draw(t, "unit")
			who := rapid.SampledFrom(people).Draw(t, "who")
			by := rapid.SampledFrom([]int64{1, 1, 1, -1}).Draw(t, "by")
			at = at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "minutes")) * time.Minute)
			before := map[place]counts{}
			for p, n := range c.cells {
				before[p] = maps.Clone(n)
			}
			c.people(ofLearning, "results", portal, u, who, at, counts{"results": by})
			if since[u][who] += by; since[u][who] == 0 {
				delete(since[u], who)
			}
			for p, n := range c.cells {
				by := minus(n, before[p])
				if by == nil {
					continue
				}
				require.GreaterOrEqual(t, len(since[u]), Batch, "a cell tells of fewer")
				var sum int64
				for _, n := range since[u] {
					sum += n
				}
				require.Equal(t, counts{"results": sum}, by, "all of the batch at once, everywhere")
				require.True(t, p.unit == uuid.UUID{} || p.unit == uuid.UUID(u), "and nowhere else")
			}
			if len(c.waiting[group{"results", uuid.UUID(portal), uuid.UUID(u)}]) == 0 {
				since[u] = map[uuid.UUID]int64{}
			}
		}
	})
}

func TestStepsOfTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(0, 10_000_000), 1, 50).Draw(t, "ms")
		c := counts{}
		var longest int64
		for _, ms := range all {
			c.add(counts{"response:" + stepOf(ms): 1})
			longest = max(longest, ms)
		}
		got := c.percentile("response:", 100)
		require.NotNil(t, got)
		require.GreaterOrEqual(t, *got, float64(longest))
		require.LessOrEqual(t, *got, max(firstStep, float64(longest)*stepGrowth+1))
		require.Nil(t, counts{}.percentile("response:", 50))
	})
}
