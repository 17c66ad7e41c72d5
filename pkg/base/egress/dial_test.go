package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, "hello")
}

func TestCheckHost(t *testing.T) {
	public, private := "1.1.1.1", "10.0.0.7"
	for name, tc := range map[string]struct {
		answer []string
		class  egress.Class
	}{
		"public":           {answer: []string{public, "2606:4700:4700::1111", "::ffff:8.8.8.8"}},
		"allowed":          {answer: []string{public, "127.0.0.1"}},
		"private":          {answer: []string{private}, class: egress.ClassPrivate},
		"mixed":            {answer: []string{public, private}, class: egress.ClassPrivate},
		"mapped":           {answer: []string{public, "::ffff:10.0.0.7"}, class: egress.ClassPrivate},
		"zoned":            {answer: []string{public, "fe80::1%eth0"}, class: egress.ClassZoned},
		"metadata":         {answer: []string{"169.254.169.254"}, class: egress.ClassMetadata},
		"beyond the tried": {answer: append(repeat(public, 40), private), class: egress.ClassPrivate},
	} {
		t.Run(name, func(t *testing.T) {
			guard := egress.New(egress.Options{Allow: loopback, Resolver: resolvesTo(tc.answer...)})
			u, err := guard.CheckURL("https://example.com/hook")
			require.NoError(t, err)
			err = guard.CheckHost(t.Context(), u)
			if tc.class == "" {
				require.NoError(t, err)
				return
			}
			var refused *egress.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tc.class, refused.Class)
			require.NotContains(t, err.Error(), "10.0")
		})
	}
}

func repeat(addr string, n int) []string {
	addrs := make([]string, n)
	for i := range addrs {
		addrs[i] = addr
	}
	return addrs
}

func TestCheckHostChecksTheForm(t *testing.T) {
	guard := egress.New(egress.Options{Resolver: resolvesTo("1.1.1.1")})
	err := guard.CheckHost(t.Context(), &url.URL{Scheme: "http", Host: "example.com"})
	var invalid *egress.InvalidURLError
	require.ErrorAs(t, err, &invalid)
}

func TestLookupFailures(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "example.com"}
	check := func(t *testing.T, ctx context.Context, addrs []netip.Addr, err error) error {
		t.Helper()
		return egress.New(egress.Options{Resolver: &resolver{
			answer: func(int) ([]netip.Addr, error) { return addrs, err },
		}}).CheckHost(ctx, u)
	}
	// The text of a DNS error names the server that was asked.
	unknown := &net.DNSError{Err: "no such host", Name: "example.com", Server: "10.0.0.53:53", IsNotFound: true}
	err := check(t, t.Context(), nil, unknown)
	var network *egress.NetworkError
	require.ErrorAs(t, err, &network)
	require.ErrorIs(t, err, unknown, "the cause is there for the log")
	require.NotContains(t, err.Error(), "10.0.0.53")

	require.ErrorAs(t, check(t, t.Context(), nil, nil), &network, "an empty answer")
	require.ErrorIs(t, check(t, t.Context(), nil, &net.DNSError{IsTimeout: true}), egress.ErrTimeout)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, check(t, cancelled, nil, cancelled.Err()), context.Canceled)
}

// The name resolves to a public address when it is checked and to loopback when
// the request is made.
func TestRebindingIsRefused(t *testing.T) {
	s := serve(t, hello)
	rebinding := &resolver{answer: func(earlier int) ([]netip.Addr, error) {
		if earlier == 0 {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	guard := guardFor(t, s, func(o *egress.Options) { o.Allow, o.Resolver = nil, rebinding })

	u, err := guard.CheckURL(s.named())
	require.NoError(t, err)
	require.NoError(t, guard.CheckHost(t.Context(), u))
	_, err = guard.Fetch(t.Context(), s.named(), 100)
	var refused *egress.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, egress.ClassLoopback, refused.Class)
	require.Zero(t, s.connections.Load(), "no connection was made")
}

// One request makes one look-up, so there is no second answer to connect to.
func TestTheCheckedAddressIsTheOneConnectedTo(t *testing.T) {
	s := serve(t, hello)
	once := &resolver{answer: func(earlier int) ([]netip.Addr, error) {
		if earlier > 0 {
			return nil, errors.New("a second look-up")
		}
		return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1")}, nil
	}}
	guard := guardFor(t, s, func(o *egress.Options) { o.Resolver = once })
	for range 2 {
		_, err := guard.Fetch(t.Context(), s.named(), 100)
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, once.lookups.Load())
	require.EqualValues(t, 1, s.connections.Load(), "the second request uses the pooled connection")
}

func TestAddressesAreTriedInOrder(t *testing.T) {
	s := serve(t, hello)
	// The server listens on 127.0.0.1 alone; the others refuse at once.
	guard := guardFor(t, s, func(o *egress.Options) {
		o.Resolver = resolvesTo("127.0.0.2", "127.0.0.3", "127.0.0.1")
	})
	_, err := guard.Fetch(t.Context(), s.named(), 100)
	require.NoError(t, err)

	guard = guardFor(t, s, func(o *egress.Options) { o.Resolver = resolvesTo("127.0.0.2", "127.0.0.3") })
	_, err = guard.Fetch(t.Context(), s.named(), 100)
	var network *egress.NetworkError
	require.ErrorAs(t, err, &network)
	require.NotContains(t, err.Error(), "127.0.0")
	require.ErrorContains(t, network.Err, "127.0.0.2", "the cause is that of the first address")

	guard = guardFor(t, s, func(o *egress.Options) {
		o.Resolver = resolvesTo(append(repeat("127.0.0.2", 40), "127.0.0.1")...)
	})
	_, err = guard.Fetch(t.Context(), s.named(), 100)
	require.ErrorAs(t, err, &network, "no more than the first few are tried")
}

func TestASlowLookupTimesOut(t *testing.T) {
	s := serve(t, hello)
	guard := guardFor(t, s, func(o *egress.Options) { o.Timeout, o.Resolver = 20*time.Millisecond, silent{} })
	_, err := guard.Fetch(t.Context(), s.named(), 100)
	require.ErrorIs(t, err, egress.ErrTimeout)
}

// silent is a resolver that never answers.
type silent struct{}

func (silent) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
