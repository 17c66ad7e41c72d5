package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	tenants, d, one, two := tenanttest.NewDirected(t)
	var budgets []Budget
	for range 2 {
		l := limits.New(&limits.Tables{Directory: d, Tenants: tenants}, limits.Options{Pods: 2, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
		l.Start()
		defer l.Stop()
		budgets = append(budgets, Budget{l})
	}
	for {
		began := time.Now().Unix() / 60
		agents := map[string]*Agent{}
		for _, name := range []string{"museum", "harbour", "library"} {
			agents[name] = &Agent{Slug: fmt.Sprint(name, began), Org: one, site: &published.Site{Portal: id.NewPortal()}}
		}
		other := &Agent{Slug: fmt.Sprint("other", began), Org: two, site: &published.Site{Portal: id.NewPortal()}}
		is := func(name string) func(int) *Agent { return func(int) *Agent { return agents[name] } }
		same := func(int) string { return "192.0.2.1" }
		each := func(i int) string { return fmt.Sprintf("2001:db8:0:%x::/64", i) }

		alone := flood(t, budgets, 200, is("museum"), same)
		rest := flood(t, budgets, 1000, is("museum"), each)
		more := flood(t, budgets, 1000, func(i int) *Agent { return agents[[]string{"harbour", "library"}[i%2]] }, each)
		elsewhere := flood(t, budgets, 10, func(int) *Agent { return other }, each)
		if time.Now().Unix()/60 != began {
			continue // the minute ended meanwhile
		}
		// A process may hold some that the other could have had.
		within := func(bound, let int, of string) {
			require.LessOrEqual(t, let, bound, of)
			require.GreaterOrEqual(t, let, bound*4/5, of)
		}
		within(PerAddress, alone, "one address")
		within(PerAgent, alone+rest, "many addresses")
		within(PerOrganization, alone+rest+more, "many agents")
		require.Equal(t, 10, elsewhere, "another organization")
		return
	}
}
