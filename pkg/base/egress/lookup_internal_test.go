package egress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// slowResolver takes its time, and counts.
type slowResolver struct {
	takes   time.Duration
	err     atomic.Pointer[error]
	lookups atomic.Int32
}

func (r *slowResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	r.lookups.Add(1)
	if r.takes > 0 {
		select {
		case <-time.After(r.takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := r.err.Load(); err != nil {
		return nil, *err
	}
	return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
}

// askTimes asks n times at once and returns how many look-ups that took.
func askTimes(t *testing.T, g *Guard, n int) int32 {
	t.Helper()
	counter := g.resolver.(*slowResolver)
	before := counter.lookups.Load()
	var group sync.WaitGroup
	for range n {
		group.Go(func() { _, _ = g.lookups.answer(t.Context(), "example.com") })
	}
	group.Wait()
	return counter.lookups.Load() - before
}

func TestAnAnswerIsRememberedFromWhenItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Resolver: &slowResolver{takes: 500 * time.Millisecond}})
		require.EqualValues(t, 1, askTimes(t, g, 100))
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // of the bubble's clock
		require.EqualValues(t, 0, askTimes(t, g, 100), "2 s old")
		time.Sleep(time.Nanosecond) //nolint:forbidigo // of the bubble's clock
		require.EqualValues(t, 1, askTimes(t, g, 100), "older")
	})
}

func TestAFailedLookupIsRememberedBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := &slowResolver{}
		g := New(Options{Resolver: failing, Remember: time.Hour})
		failure := errors.New("SERVFAIL")
		failing.err.Store(&failure)
		require.EqualValues(t, 1, askTimes(t, g, 1))
		time.Sleep(time.Second) //nolint:forbidigo // of the bubble's clock
		require.EqualValues(t, 0, askTimes(t, g, 1))
		failing.err.Store(nil)
		_, err := g.lookups.answer(t.Context(), "example.com")
		require.ErrorIs(t, err, failure)
		time.Sleep(time.Nanosecond) //nolint:forbidigo // of the bubble's clock
		_, err = g.lookups.answer(t.Context(), "example.com")
		require.NoError(t, err)
		time.Sleep(time.Hour) //nolint:forbidigo // of the bubble's clock
		require.EqualValues(t, 0, askTimes(t, g, 1))
	})
}

// Whoever begins while a look-up is under way must not get what is older than
// allowed, and they all wait for the next one together.
func TestALateComerWaitsForANewerAnswer(t *testing.T) {
	for remember, want := range map[time.Duration]int32{-1: 2, time.Second: 2, 3 * time.Second: 1} {
		synctest.Test(t, func(t *testing.T) {
			slow := &slowResolver{takes: 5 * time.Second}
			g := New(Options{Resolver: slow, Remember: remember})
			var group sync.WaitGroup
			for i := range 50 {
				group.Go(func() {
					<-time.After(time.Duration(i) * 50 * time.Millisecond)
					found, err := g.lookups.answer(t.Context(), "example.com")
					if err != nil || len(found.addrs) != 1 {
						t.Errorf("got %v, %v", found, err)
					}
				})
			}
			group.Wait()
			require.Equal(t, want, slow.lookups.Load(), remember)
		})
	}
}

func TestANegativeTimeRemembersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Resolver: &slowResolver{takes: time.Millisecond}, Remember: -1})
		for range 3 {
			require.EqualValues(t, 1, askTimes(t, g, 100))
		}
	})
}

// One that gives up leaves the look-up to the others.
func TestACancelledCallerFailsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Resolver: &slowResolver{takes: time.Second}})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			_, err := g.lookups.answer(ctx, "example.com")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		for range 10 {
			group.Go(func() {
				if _, err := g.lookups.answer(t.Context(), "example.com"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		group.Wait()
		require.EqualValues(t, 1, g.resolver.(*slowResolver).lookups.Load())
	})
}

func TestRememberedAnswersAreBounded(t *testing.T) {
	g := New(Options{Resolver: &slowResolver{}, Remember: time.Hour})
	for i := range maxRemembered + 10 {
		_, err := g.lookups.answer(t.Context(), fmt.Sprintf("h%d.example", i))
		require.NoError(t, err)
	}
	require.Equal(t, maxRemembered, g.lookups.known.Len())
}

func TestAPoolIsOfAHostAndItsAddresses(t *testing.T) {
	one, two := netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("1.0.0.1")
	pool := func(host string, addrs ...netip.Addr) string { return newAnswer(host, addrs).pool }
	require.Equal(t, pool("a.example", one, two), pool("a.example", two, one))
	for _, other := range []string{
		pool("a.example", one), pool("a.example", two), pool("b.example", one, two), pool("a.example", one, one),
	} {
		require.NotEqual(t, pool("a.example", one, two), other)
	}
	many := make([]netip.Addr, 100)
	for i := range many {
		many[i] = netip.AddrFrom4([4]byte{1, 1, 1, byte(i)})
	}
	kept := newAnswer("a.example", many).addrs
	require.Equal(t, many[:maxDialed], kept)
	require.Equal(t, maxDialed, cap(kept), "the rest is let go")
}
