package route

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/limits"
)

// limitAddress counts the request for its address, whatever the key (Limits,
// class address).
func (c *Call) limitAddress() error {
	r, err := c.service.Limiter.Take(c.request.Context(), c.addressCounter(), c.service.PerAddress)
	if err != nil {
		return err
	}
	c.ofAddress = r
	c.showLimit(r)
	if r.Refused {
		return limited(r, "this address")
	}
	return nil
}

// Sockets serves what is no operation and outlasts a request, such as
// WebSockets, behind the limit of the caller's address.
func (s *Service) Sockets(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := s.unnamed(w, r)
		if err := c.limitAddress(); err != nil {
			c.refuse(err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Count counts a request that is no operation for its address. The error is a
// problem, which the caller answers in its own form.
func (s *Service) Count(w http.ResponseWriter, r *http.Request) error {
	return s.unnamed(w, r).limitAddress()
}

// unnamed is a request that is no operation.
func (s *Service) unnamed(w http.ResponseWriter, r *http.Request) *Call {
	return &Call{RequestID: id.NewRequest(), Contract: contract.Latest, service: s, Address: s.AddressOf(r), writer: w, request: r}
}

func (c *Call) addressCounter() limits.Counter { return limits.Counter{Holder: c.Household()} }

// Household is what stands for the caller where callers are counted: the
// address, or the /64 of an IPv6 one.
func (c *Call) Household() string { return Household(c.Address) }

// Household is what stands for a caller at an address.
func Household(a netip.Addr) string {
	if a.Is6() {
		if prefix, err := a.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return a.String()
}

// limitKey counts the request for its key and its organization. A request
// that one of them refuses is counted for none.
func (c *Call) limitKey() error {
	if c.Principal == nil || c.Op.Class == "" {
		return nil
	}
	ctx, class := c.request.Context(), c.Op.Class
	allowed := c.Principal.Terms.Rates[class]
	ofKey := limits.Counter{Org: c.Org(), Holder: c.Principal.Key.ID.String(), Class: class}

	key, err := c.service.Limiter.Take(ctx, ofKey, allowed.PerKey)
	if err != nil {
		return err
	}
	if key.Refused {
		c.service.Limiter.PutBack(c.addressCounter(), c.ofAddress)
		c.showLimit(key)
		return limited(key, "this key in the class "+string(class))
	}
	org, err := c.takeOrganization(c.Org(), allowed)
	if err != nil {
		c.service.Limiter.PutBack(ofKey, key)
		return err
	}
	if c.Op.FailsClosed && (key.Degraded || org.Degraded) {
		return problem.Unavailable(retryCapacity, nil)
	}
	closer := key
	if org.Remaining < key.Remaining {
		closer = org
	}
	c.showLimit(closer)
	return nil
}

// takeOrganization counts the request for an organization.
func (c *Call) takeOrganization(org id.Org, allowed rate.Rate) (limits.Reading, error) {
	of := limits.Counter{Org: org, Holder: limits.HolderOrg, Class: c.Op.Class}
	r, err := c.service.Limiter.Take(c.request.Context(), of, allowed.PerOrganization)
	if err == nil && r.Refused {
		c.service.Limiter.PutBack(c.addressCounter(), c.ofAddress)
		c.showLimit(r)
		err = limited(r, "this organization in the class "+string(c.Op.Class))
	}
	return r, err
}

// Limited notes what came of counting a request that brought no key by a budget which only
// the handler finds out (Limits, 1). A request that it refuses is not counted for the
// address either.
func (c *Call) Limited(r limits.Reading, err error) error {
	if r.Refused {
		c.service.Limiter.PutBack(c.addressCounter(), c.ofAddress)
	}
	if r.Refused || err == nil && r.Remaining < c.ofAddress.Remaining {
		c.showLimit(r)
	}
	return err
}

// Identified says that the handler found out who calls, by a key that is none of the API's: the
// request is not counted for its address.
func (c *Call) Identified() {
	if !c.ofAddress.Refused {
		c.service.Limiter.PutBack(c.addressCounter(), c.ofAddress)
	}
	c.ofAddress = limits.Reading{Remaining: math.MaxInt64}
}

// showLimit sets the three headers of Limits, 1.
func (c *Call) showLimit(r limits.Reading) {
	// Set would write Ratelimit-Limit; the spec spells the names this way.
	h := c.writer.Header()
	h["RateLimit-Limit"] = []string{strconv.FormatInt(r.Limit, 10)}
	h["RateLimit-Remaining"] = []string{strconv.FormatInt(r.Remaining, 10)}
	h["RateLimit-Reset"] = []string{strconv.FormatInt(seconds(r.Reset), 10)}
}

func seconds(d time.Duration) int64 { return max(int64(math.Ceil(d.Seconds())), 1) }

func limited(r limits.Reading, whose string) *problem.Problem {
	p := problem.New(problem.RateLimited, "More than %d requests a minute for %s. Try again in %d seconds.",
		r.Limit, whose, seconds(r.Reset))
	if r.Degraded {
		// A part of the limit is this process's own then.
		p.Message = fmt.Sprintf("Too many requests for %s just now. Try again in %d seconds.", whose, seconds(r.Reset))
	}
	p.RetryAfter = max(r.Reset, time.Second)
	return p
}

// unroutedOperation stands in for a request that no operation takes.
var unroutedOperation = Operation{ID: "none", Auth: MayHaveKey, Class: rate.Read}

// AddressOf is the caller's address: the connection's, or behind trusted proxies the
// last in X-Forwarded-For that no trusted proxy of ours has.
func (s *Service) AddressOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	at := peer.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !s.trusted(at) {
			return at
		}
		forwarded, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return at
		}
		at = forwarded.Unmap().WithZone("")
	}
	return at
}

func (s *Service) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}
