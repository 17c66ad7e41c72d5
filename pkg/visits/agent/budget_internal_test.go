package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// flood counts questions from many processes' goroutines at once, and answers how many were let in.
func flood(t *testing.T, budgets []Budget, n int, of func(int) *Agent, household func(int) string) int {
	t.Helper()
	var in atomic.Int64
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			_, err := budgets[i%len(budgets)].Count(context.Background(), of(i), household(i))
			p, refused := errors.AsType[*problem.Problem](err)
			switch {
			case err == nil:
				in.Add(1)
			case !refused || p.Code != problem.RateLimited || p.RetryAfter < time.Second:
				t.Errorf("%v", err)
			}
		})
	}
	group.Wait()
	return int(in.Load())
}

// Two processes let in as many questions as one may, and what one bound refuses uses up
// nothing of the others.
func TestAFloodOfQuestions(t *testing.T) {
	var few []string
	for range 3 {
		var whole bool
		if few, whole = floodTwo(t); whole && len(few) == 0 {
			return
		}
		// The minute ended meanwhile, or, on a busy machine, one process did not get in time what the other does not use.
	}
	t.Fatalf("in three floods: %v", few)
}

// floodTwo floods two processes' budgets of an organization that nobody asked anything yet. It answers which bounds let in much less
// than they may, and whether the flood fell into one minute, since nothing is known otherwise.
func floodTwo(t *testing.T) (few []string, whole bool) {
	t.Helper()
	tenants, d, one, two := tenanttest.NewDirected(t)
	var budgets []Budget
	for range 2 {
		l := limits.New(&limits.Tables{Directory: d, Tenants: tenants}, limits.Options{Pods: 2, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
		l.Start()
		defer l.Stop()
		budgets = append(budgets, Budget{l})
	}
	began := time.Now().Unix() / 60
	agents := map[string]*Agent{}
	for _, name := range []string{"museum", "harbour", "library", "quay"} {
		agents[name] = &Agent{Slug: name, Org: one, site: &published.Site{Portal: id.NewPortal()}}
	}
	other := &Agent{Slug: "other", Org: two, site: &published.Site{Portal: id.NewPortal()}}
	is := func(name string) func(int) *Agent { return func(int) *Agent { return agents[name] } }
	same := func(int) string { return "192.0.2.1" }
	each := func(i int) string { return fmt.Sprintf("2001:db8:%x::/64", i) }
	ofLine := func(i int) string { return fmt.Sprintf("2001:db8:ffff:%x::/64", i) }

	alone := flood(t, budgets, 200, is("museum"), same)
	caller := flood(t, budgets, 400, func(i int) *Agent { return agents[[]string{"harbour", "library", "quay"}[i%3]] }, same)
	line := flood(t, budgets, 300, is("museum"), ofLine)
	lines := flood(t, budgets, 600, func(i int) *Agent { return agents[[]string{"harbour", "library", "quay"}[i%3]] }, ofLine)
	rest := flood(t, budgets, 1000, is("museum"), each)
	more := flood(t, budgets, 1000, func(i int) *Agent { return agents[[]string{"harbour", "library"}[i%2]] }, each)
	elsewhere := flood(t, budgets, 10, func(int) *Agent { return other }, each)
	if time.Now().Unix()/60 != began {
		return nil, false
	}
	// A process may hold some that the other could have had.
	within := func(bound, let int, of string) {
		require.LessOrEqual(t, let, bound, of)
		if let < bound*4/5 {
			few = append(few, fmt.Sprintf("%s: %d of %d", of, let, bound))
		}
	}
	within(PerAddress, alone, "one address")
	within(PerCaller, alone+caller, "one address at all agents")
	within(PerLine, line, "many addresses of one line")
	// The process that holds what is left of this may have no more questions to an agent that has some left.
	require.LessOrEqual(t, line+lines, PerLineOfAll, "many addresses of one line at all agents")
	within(PerAgent, alone+line+rest, "many addresses")
	within(PerOrganization, alone+caller+line+lines+rest+more, "many agents")
	require.Equal(t, 10, elsewhere, "another organization")
	return few, true
}

// What is kept costs a quarter of what is worked out, whichever bound counts it, and what one bound refuses uses up nothing of the others.
func TestCosts(t *testing.T) {
	tenants, d, org, _ := tenanttest.NewDirected(t)
	b := Budget{limits.New(&limits.Tables{Directory: d, Tenants: tenants}, limits.Options{Pods: 1, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})}
	for {
		began := time.Now().Unix() / 60
		of := &Agent{Slug: fmt.Sprint("costs", began), Org: org, site: &published.Site{Portal: id.NewPortal()}}
		const all = PerAddress * int(CostSearch)
		for n := range all - 3 {
			c, err := b.Count(t.Context(), of, "kept")
			require.NoError(t, err, n)
			c.Settle(CostKept)
			require.EqualValues(t, PerAddress, c.Reading.Limit)
			require.EqualValues(t, (all-1-n)/int(CostSearch), c.Reading.Remaining)
		}
		c, err := b.Count(t.Context(), of, "kept")
		fresh, other := b.Count(t.Context(), of, "fresh")
		if time.Now().Unix()/60 != began {
			continue // the minute ended meanwhile
		}
		p, refused := errors.AsType[*problem.Problem](err)
		require.True(t, refused, "three are left of the four that it takes: %v", err)
		require.True(t, c.Reading.Refused)
		require.Equal(t, problem.RateLimited, p.Code)
		require.Contains(t, p.Message, fmt.Sprintf("Ask again in %d seconds.", int64(math.Ceil(p.RetryAfter.Seconds()))))
		require.NoError(t, other)
		require.EqualValues(t, PerAddress-1, fresh.Reading.Remaining)
		// Of everybody's, what was kept counted for a quarter, and what was refused for nothing.
		require.Equal(t, PerAgent*int64(CostSearch)-int64(all-3)*int64(CostKept)-int64(CostSearch), fresh.counted[2].reading.Remaining)
		return
	}
}
