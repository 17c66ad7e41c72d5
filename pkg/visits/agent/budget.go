package agent

import (
	"context"
	"time"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/limits"
)

// How many questions a minute takes: of an address to an agent, of everybody to an agent,
// and of everybody to all agents of an organization.
const (
	PerAddress      = 30
	PerAgent        = 600
	PerOrganization = 1200
)

// questions is the class that they are counted in.
const questions rate.Class = "agents"

// Budget counts questions. Only they are counted: what else there is of an agent costs
// little, and the limit of the address bounds it.
type Budget struct{ Limiter *limits.Limiter }

// Count counts a question of a household (see route.Household), which uses up nothing where
// one of the bounds refuses it. The reading is the household's, or that which refused. The
// error is a problem.
func (b Budget) Count(ctx context.Context, of *Agent, household string) (limits.Reading, error) {
	type counted struct {
		counter limits.Counter
		reading limits.Reading
	}
	var done []counted
	for _, bound := range []struct {
		counter limits.Counter
		limit   int64
	}{
		{limits.Counter{Holder: "agent " + of.Slug + " " + household}, PerAddress},
		{limits.Counter{Org: of.Org, Holder: of.site.Portal.String(), Class: questions}, PerAgent},
		{limits.Counter{Org: of.Org, Holder: limits.HolderOrg, Class: questions}, PerOrganization},
	} {
		reading, err := b.Limiter.Take(ctx, bound.counter, bound.limit)
		if err == nil && reading.Refused {
			p := problem.New(problem.RateLimited, "The agent was asked more often than it may be in a minute.")
			p.RetryAfter = max(reading.Reset, time.Second)
			err = p
		}
		if err != nil {
			for _, c := range done {
				b.Limiter.PutBack(c.counter, c.reading)
			}
			return reading, err
		}
		done = append(done, counted{bound.counter, reading})
	}
	return done[0].reading, nil
}
