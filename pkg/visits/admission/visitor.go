package admission

import (
	"context"
	"net/netip"
	"time"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/limits"
)

// AddressBlock is what stands for where a visitor comes from: the /24 of an IPv4 address,
// the /56 of an IPv6 one. Who has one address of a block mostly has more of it.
func AddressBlock(a netip.Addr) string {
	bits := 56
	if a = a.Unmap().WithZone(""); a.Is4() {
		bits = 24
	}
	block, err := a.Prefix(bits)
	if err != nil {
		return a.String()
	}
	return block.String()
}

// Visitors count the sessions that are asked for without a key. They have budgets of their
// own, so that they use up none of what an organization's keys may ask for.
type Visitors struct{ Limiter *limits.Limiter }

// visitorsAgain is when it is worth asking again while nobody can count.
const visitorsAgain = 2 * time.Second

// Count counts a session that is asked for at a place, a widget's or a portal's id, from an
// address block: against half the organization's sessions a minute for the block there, and
// against all of them for everybody there. The reading is the closer one of the two. The error is a
// problem.
func (v Visitors) Count(ctx context.Context, h Host, at, block string) (limits.Reading, error) {
	all := h.Terms.Rates[rate.Live].PerOrganization
	ofBlock := limits.Counter{Holder: "visit " + at + " " + block}
	one, err := v.Limiter.Take(ctx, ofBlock, max(1, all/2))
	if err != nil {
		return one, err
	}
	if one.Refused {
		return one, tooMany(one, "More sessions are started from this network than may be.")
	}
	place, err := v.Limiter.Take(ctx, limits.Counter{Org: h.Organization.ID, Holder: "visitors " + at, Class: rate.Live}, all)
	switch {
	case err != nil:
	case place.Refused:
		err = tooMany(place, "More sessions are started here than may be.")
	case place.Degraded:
		err = problem.Unavailable(visitorsAgain, nil)
	}
	if err != nil {
		v.Limiter.PutBack(ofBlock, one)
		return place, err
	}
	if one.Remaining < place.Remaining {
		return one, nil
	}
	return place, nil
}

func tooMany(r limits.Reading, message string) error {
	p := problem.New(problem.RateLimited, "%s", message)
	p.RetryAfter = max(r.Reset, time.Second)
	return p
}
