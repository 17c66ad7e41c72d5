package egress

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The check at the socket stands by itself: it is called here with what nothing
// above it lets through.
func TestControlChecksTheSocketsAddress(t *testing.T) {
	guard := New(Options{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}})
	for address, class := range map[string]Class{
		"127.0.0.1:443":          ClassLoopback,
		"10.0.0.1:443":           ClassPrivate,
		"[::1]:443":              ClassLoopback,
		"[::ffff:127.0.0.1]:443": ClassLoopback,
		"[fe80::1%eth0]:443":     ClassZoned,
		"example.com:443":        ClassInvalid,
		"":                       ClassInvalid,
	} {
		var refused *RefusedError
		require.ErrorAs(t, guard.control(t.Context(), "tcp4", address, nil), &refused, address)
		require.Equal(t, class, refused.Class, address)
	}
	for _, address := range []string{"1.1.1.1:443", "[2606:4700:4700::1111]:443", "10.1.2.3:8443"} {
		require.NoError(t, guard.control(t.Context(), "tcp", address, nil), address)
	}
}

// A refusal at the socket comes wrapped in a net.OpError, whose text names the
// address.
func TestARefusalAtTheSocketNamesNoAddress(t *testing.T) {
	guard := New(Options{})
	_, err := guard.dialAny(t.Context(), []netip.Addr{netip.MustParseAddr("127.0.0.1")}, 443)
	require.ErrorContains(t, err, "127.0.0.1")
	err = explain(t.Context(), err)
	require.ErrorAs(t, err, new(*RefusedError))
	require.NotContains(t, err.Error(), "127.0.0.1")
}

// The transport dials under a context that has lost the request's deadline.
func TestDialingHasATimeoutOfItsOwn(t *testing.T) {
	guard := New(Options{Timeout: 20 * time.Millisecond, Resolver: silentResolver{}})
	_, err := guard.dialContext(context.WithoutCancel(t.Context()), "tcp", "example.com:443")
	require.ErrorIs(t, explain(t.Context(), err), ErrTimeout)
}

// silentResolver never answers.
type silentResolver struct{}

func (silentResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
