package egress_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"visavis.dev/pkg/base/egress"
)

// In these tests 127.0.0.1 is the public internet: it is the one address that is
// allowed. 127.0.0.2 is what must not be reached.
var onlyLocalhost = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// forbidden listens on 127.0.0.2, on the port of the server, and counts.
func forbidden(t *testing.T, s *server) *atomic.Int32 {
	t.Helper()
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.2:"+u.Port())
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	connections := new(atomic.Int32)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			conn.Close()
		}
	}()
	return connections
}

// rebound makes a guard that believes a name server and may reach 127.0.0.1.
func rebound(t *testing.T, s *server, names *nameServer, change ...func(*egress.Options)) *egress.Guard {
	t.Helper()
	return guardFor(t, s, append([]func(*egress.Options){func(o *egress.Options) {
		o.Allow, o.Resolver, o.Remember = onlyLocalhost, names.resolver(), -1
	}}, change...)...)
}

func TestEveryAnswerIsJudged(t *testing.T) {
	many := make([]netip.Addr, 40)
	for i := range many {
		many[i] = localhost
	}
	var (
		refused *egress.RefusedError
		network *egress.NetworkError
	)
	for name, tc := range map[string]struct {
		says records
		err  any // what errors.As finds; nil for a reply
	}{
		"allowed":             {records{addrs: []netip.Addr{localhost}}, nil},
		"through aliases":     {records{addrs: []netip.Addr{localhost}, aliases: 8}, nil},
		"over TCP":            {records{addrs: many, truncated: true}, nil},
		"loopback":            {records{addrs: parseAddrs("127.0.0.2")}, &refused},
		"metadata":            {records{addrs: parseAddrs("169.254.169.254")}, &refused},
		"metadata, IPv6":      {records{addrs: parseAddrs("fd00:ec2::254")}, &refused},
		"private":             {records{addrs: parseAddrs("10.0.0.1")}, &refused},
		"mapped":              {records{addrs: parseAddrs("::ffff:127.0.0.2")}, &refused},
		"NAT64":               {records{addrs: parseAddrs("64:ff9b::7f00:2")}, &refused},
		"6to4":                {records{addrs: parseAddrs("2002:7f00:2::")}, &refused},
		"unspecified":         {records{addrs: parseAddrs("0.0.0.0")}, &refused},
		"one bad among many":  {records{addrs: append(many[:30:30], parseAddrs("10.0.0.1")...)}, &refused},
		"one bad over TCP":    {records{addrs: append(many[:39:39], parseAddrs("127.0.0.2")...), truncated: true}, &refused},
		"bad IPv6 beside":     {records{addrs: parseAddrs("127.0.0.1", "::1")}, &refused},
		"bad behind an alias": {records{addrs: parseAddrs("192.168.0.1"), aliases: 3}, &refused},
		"empty":               {records{}, &network},
		"an alias of nothing": {records{aliases: 1}, &network},
		"SERVFAIL":            {records{code: dnsmessage.RCodeServerFailure}, &network},
		"NXDOMAIN":            {records{code: dnsmessage.RCodeNameError}, &network},
		"REFUSED":             {records{code: dnsmessage.RCodeRefused}, &network},
	} {
		t.Run(name, func(t *testing.T) {
			s, names := serve(t, hello), serveNames(t)
			unreached := forbidden(t, s)
			names.say(tc.says)
			reply, err := post(t, rebound(t, s, names), s.named())
			require.Zero(t, unreached.Load())
			if tc.err == nil {
				require.NoError(t, err)
				require.Equal(t, localhost, reply.Addr)
				return
			}
			require.ErrorAs(t, err, tc.err)
			require.Equal(t, egress.Reply{}, reply)
			require.Zero(t, s.connections.Load())
		})
	}
	t.Run("silent", func(t *testing.T) {
		s, names := serve(t, hello), serveNames(t)
		names.say(records{silent: true})
		_, err := post(t, rebound(t, s, names, func(o *egress.Options) { o.Timeout = 50 * time.Millisecond }), s.named())
		require.ErrorIs(t, err, egress.ErrTimeout)
	})
}

// The host moves while a connection to its old address is open: whoever begins
// once the old answer may no longer be remembered is refused.
func TestAMovedHostIsRefusedInTime(t *testing.T) {
	for _, remember := range []time.Duration{-1, 20 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(fmt.Sprint(remember), func(t *testing.T) {
			s, names := serve(t, hello), serveNames(t)
			unreached := forbidden(t, s)
			target, err := rebound(t, s, names, func(o *egress.Options) { o.Remember = remember }).Target(s.named())
			require.NoError(t, err)
			for range 5 {
				names.sayAddrs("127.0.0.1")
				<-time.After(remember)
				_, err = target.Post(t.Context(), nil, nil)
				require.NoError(t, err)

				names.sayAddrs("127.0.0.2")
				<-time.After(remember)
				reply, err := target.Post(t.Context(), nil, nil)
				var refused *egress.RefusedError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, egress.Reply{}, reply)
			}
			require.Zero(t, unreached.Load())
			require.EqualValues(t, 1, s.connections.Load(), "the open connection was good for what was allowed")
		})
	}
}

// A connection to an address that the host has left is not used, although that
// address is allowed.
func TestAConnectionIsUsedWithItsAnswerOnly(t *testing.T) {
	s, names := serve(t, hello), serveNames(t)
	unreached := forbidden(t, s)
	target, err := rebound(t, s, names, func(o *egress.Options) { o.Allow = loopback }).Target(s.named())
	require.NoError(t, err)
	names.sayAddrs("127.0.0.1")
	reply, err := target.Post(t.Context(), nil, nil)
	require.NoError(t, err)
	require.Equal(t, localhost, reply.Addr)

	names.sayAddrs("127.0.0.2") // where nobody speaks TLS
	reply, err = target.Post(t.Context(), nil, nil)
	var network *egress.NetworkError
	require.ErrorAs(t, err, &network)
	require.Equal(t, netip.MustParseAddr("127.0.0.2"), reply.Addr)
	require.EqualValues(t, 1, unreached.Load())
}

// flipping are what a hostile name server says in turns, half of it harmless.
func flipping() []records {
	flips := []records{{code: dnsmessage.RCodeServerFailure}, {}}
	for _, addrs := range [][]string{
		{"127.0.0.2"},
		{"127.0.0.1", "127.0.0.2"},
		{"127.0.0.2", "127.0.0.1"},
		{"169.254.169.254"},
		{"10.0.0.1"},
		{"::1"},
		{"64:ff9b::7f00:2"},
		{"::ffff:127.0.0.2"},
	} {
		flips = append(flips, records{addrs: parseAddrs(addrs...)}, records{addrs: []netip.Addr{localhost}})
	}
	return append(flips, records{addrs: parseAddrs("127.0.0.2"), aliases: 2},
		records{addrs: []netip.Addr{localhost}, aliases: 2, truncated: true})
}

func TestNoConnectionIsMadeToWhatIsNotAllowed(t *testing.T) {
	const posters, posts = 16, 40
	for _, remember := range []time.Duration{-1, time.Millisecond, 20 * time.Millisecond} {
		t.Run(fmt.Sprint(remember), func(t *testing.T) {
			s, names := serve(t, hello), serveNames(t)
			unreached := forbidden(t, s)
			guard := rebound(t, s, names, func(o *egress.Options) { o.Remember, o.MaxIdlePerHost = remember, posters })
			target, err := guard.Target(s.named())
			require.NoError(t, err)

			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			var flipper, group sync.WaitGroup
			flipper.Go(func() {
				for flips := flipping(); ctx.Err() == nil; <-time.After(time.Duration(rand.N(3000)) * time.Microsecond) {
					names.say(flips[rand.N(len(flips))])
				}
			})
			var replies, refusals atomic.Int32
			for range posters {
				group.Go(func() {
					for n := 0; n < posts || replies.Load() == 0 || refusals.Load() == 0; n++ {
						reply, err := target.Post(ctx, nil, []byte("{}"))
						if !judge(t, reply, err, &replies, &refusals) {
							return
						}
						<-time.After(time.Duration(rand.N(2000)) * time.Microsecond)
					}
				})
			}
			group.Wait()
			stop()
			flipper.Wait()
			require.Zero(t, unreached.Load())
		})
	}
}

// judge lets a post end in a reply of the allowed address or in one of the
// failures that the name server can bring about.
func judge(t *testing.T, reply egress.Reply, err error, replies, refusals *atomic.Int32) bool {
	var (
		refused *egress.RefusedError
		network *egress.NetworkError
	)
	switch {
	case err == nil && reply.Status == http.StatusOK && reply.Addr == localhost:
		replies.Add(1)
	case errors.As(err, &refused) && reply == (egress.Reply{}):
		refusals.Add(1)
	case errors.As(err, &network) && reply == (egress.Reply{}):
	default:
		t.Errorf("got %v, %v", reply, err)
		return false
	}
	return true
}
