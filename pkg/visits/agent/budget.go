package agent

import (
	"context"
	"math"
	"net/netip"
	"time"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/limits"
)

// How many questions a minute takes that are worked out: of an address to an agent, and to all agents
// of an organization, so that no address alone uses up what the organization has for everybody; of an IPv6 line, which
// has as many addresses as it wants, to both; of everybody to an agent, and to all agents of an organization.
const (
	PerAddress      = 30
	PerCaller       = 60
	PerLine         = 120
	PerLineOfAll    = 240
	PerAgent        = 600
	PerOrganization = 1200
)

// Cost is what an answer uses of those bounds, where a question that is worked out uses CostOf.
type Cost int64

// The costs: of an answer that is kept, and of one that is looked for in the packs. Which it is shows once the question was
// counted, since looking whether it is kept has to be bounded too: there is a question to be let in where CostSearch is left.
const (
	CostKept   Cost = 1
	CostSearch Cost = 4
)

// questions is the class that they are counted in.
const questions rate.Class = "agents"

// Budget counts questions. Only they are counted: what else there is of an agent costs
// little, and the limit of the address bounds it.
type Budget struct{ Limiter *limits.Limiter }

// allowance is a bound that questions count for, in questions that are worked out.
type allowance struct {
	counter   limits.Counter
	questions int64
	// says is what it bounds.
	says string
}

// allowances are those of a household's questions (see route.Household). Those that name one are counted in the directory, which forgets
// addresses.
func allowances(of *Agent, household string) []allowance {
	agent, all := "agent "+of.Slug+" ", "agents "+of.Org.String()+" "
	bounds := []allowance{
		{limits.Counter{Holder: agent + household}, PerAddress, "This address asked the agent"},
		{limits.Counter{Holder: all + household}, PerCaller, "This address asked the agents of the organization"},
	}
	if line := lineOf(household); line != "" {
		bounds = append(bounds,
			allowance{limits.Counter{Holder: agent + line}, PerLine, "This address and its neighbors asked the agent"},
			allowance{limits.Counter{Holder: all + line}, PerLineOfAll, "This address and its neighbors asked the agents of the organization"})
	}
	return append(bounds,
		allowance{limits.Counter{Org: of.Org, Holder: of.site.Portal.String(), Class: questions}, PerAgent, "The agent was asked"},
		allowance{limits.Counter{Org: of.Org, Holder: limits.HolderOrg, Class: questions}, PerOrganization, "The agents of the organization were asked"})
}

// lineBits is the most that a provider gives one line of IPv6 (RFC 6177).
const lineBits = 48

// lineOf is the line that a household of IPv6 can be of, a /48; empty for an address of IPv4.
func lineOf(household string) string {
	prefix, err := netip.ParsePrefix(household)
	if err != nil || prefix.Bits() <= lineBits {
		return ""
	}
	line, err := prefix.Addr().Prefix(lineBits)
	if err != nil {
		return ""
	}
	return line.String()
}

// Charge is what a question was counted with.
type Charge struct {
	limiter *limits.Limiter
	counted []counted
	// Reading is the household's, or that of the bound that refused, in questions that are worked out.
	Reading limits.Reading
}

// counted is what was taken of a bound.
type counted struct {
	counter limits.Counter
	reading limits.Reading
}

// Count counts a question of a household as one that is worked out, which uses up nothing where one of the bounds refuses it. The
// error is a problem.
func (b Budget) Count(ctx context.Context, of *Agent, household string) (Charge, error) {
	c := Charge{limiter: b.Limiter}
	for _, bound := range allowances(of, household) {
		reading, err := b.Limiter.TakeSome(ctx, bound.counter, int64(CostSearch), bound.questions*int64(CostSearch))
		if err == nil && reading.Refused {
			err = bound.refusal(reading)
		}
		if err != nil {
			c.giveBack(CostSearch)
			c.Reading = inQuestions(reading)
			return c, err
		}
		c.counted = append(c.counted, counted{bound.counter, reading})
	}
	c.Reading = inQuestions(c.counted[0].reading)
	return c, nil
}

// Settle has the answer cost so much, and gives back the rest.
func (c *Charge) Settle(cost Cost) {
	c.giveBack(CostSearch - cost)
	left := c.counted[0].reading
	left.Remaining = min(left.Remaining+int64(CostSearch-cost), left.Limit)
	c.Reading = inQuestions(left)
}

func (c *Charge) giveBack(cost Cost) {
	for _, one := range c.counted {
		c.limiter.PutBackSome(one.counter, one.reading, int64(cost))
	}
}

// refusal says when to ask again, in its words too: protocols of assistants have no header for it.
func (b *allowance) refusal(r limits.Reading) error {
	wait := max(r.Reset, time.Second)
	p := problem.New(problem.RateLimited, "%s more than there may be in a minute. Ask again in %d seconds.", b.says, int64(math.Ceil(wait.Seconds())))
	p.RetryAfter = wait
	return p
}

// inQuestions is a reading in questions that are worked out.
func inQuestions(r limits.Reading) limits.Reading {
	r.Limit, r.Remaining = r.Limit/int64(CostSearch), r.Remaining/int64(CostSearch)
	return r
}
