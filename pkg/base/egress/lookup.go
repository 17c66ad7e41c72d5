package egress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"visavis.dev/pkg/base/lru"
)

const (
	// maxRemembered is how many hosts' answers are kept.
	maxRemembered = 4096
	// maxFailureRemembered is how long a look-up that gave nothing is kept: enough
	// to spare the resolver, too short to outlast a repair.
	maxFailureRemembered = time.Second
)

// answer is what the resolver said of a host, judged.
type answer struct {
	// addrs are those to connect to, in the resolver's order; every one was checked.
	addrs []netip.Addr
	// pool names the connections that may be used: those to this host that were
	// made to this set of addresses.
	pool string
	err  error // why there are no addresses: a RefusedError or a NetworkError
	// until is when the last attempt that this is good for begins.
	until time.Time
}

// lookups asks the resolver for [Target.Post], once for all that ask at the same
// time, and remembers what it said for a little while.
type lookups struct {
	guard    *Guard
	remember time.Duration
	known    lru.Cache[string, *answer]
	flights  singleflight.Group
}

func newLookups(g *Guard, remember time.Duration) *lookups {
	known, err := lru.New[string, *answer](maxRemembered)
	if err != nil {
		panic(err) // it fails only on a size below one
	}
	return &lookups{guard: g, remember: max(remember, 0), known: known}
}

// answer returns the addresses of a host for an attempt that begins now. They were
// asked for at most l.remember ago: a flight of others that set out before is
// awaited, and then followed by another. The error is that of the answer or ctx's.
func (l *lookups) answer(ctx context.Context, host string) (*answer, error) {
	begin := time.Now()
	found, ok := l.known.Get(host)
	for !ok || found.until.Before(begin) {
		flight := l.flights.DoChan(host, func() (any, error) { return l.ask(host), nil })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case landed := <-flight:
			found, ok = landed.Val.(*answer)
		}
	}
	return found, found.err
}

// ask is on behalf of many, so it runs to its end whoever of them gives up.
func (l *lookups) ask(host string) *answer {
	// Another flight may have landed since the caller looked.
	if found, ok := l.known.Get(host); ok && !found.until.Before(time.Now()) {
		return found
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.guard.timeout)
	defer cancel()
	// What the resolver says was true at the latest when it said it, and at the
	// earliest when it was asked.
	asked := time.Now()
	addrs, err := l.guard.resolve(ctx, host)
	found := &answer{err: err, until: asked.Add(min(l.remember, maxFailureRemembered))}
	if err == nil {
		found = newAnswer(host, addrs)
		found.until = asked.Add(l.remember)
	}
	l.known.Add(host, found)
	return found
}

// newAnswer keeps the addresses that will be tried. All of them make the pool's
// name, in an order of its own, since servers give them in turns.
func newAnswer(host string, addrs []netip.Addr) *answer {
	set := slices.Clone(addrs)
	slices.SortFunc(set, netip.Addr.Compare)
	name := append([]byte(host), 0)
	for _, addr := range set {
		bytes := addr.As16()
		name = append(name, bytes[:]...)
	}
	sum := sha256.Sum256(name)
	return &answer{
		addrs: slices.Clone(addrs[:min(len(addrs), maxDialed)]),
		pool:  hex.EncodeToString(sum[:]),
	}
}
