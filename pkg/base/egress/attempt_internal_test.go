package egress

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attemptFor is an attempt on its way to a host on loopback.
func attemptFor(t *testing.T, g *Guard, raw string) (context.Context, *attempt) {
	t.Helper()
	target, err := g.Target(raw)
	require.NoError(t, err)
	a := &attempt{target: target, answer: target.literal}
	return context.WithValue(t.Context(), attemptKey{}, a), a
}

// As TestDialingHasATimeoutOfItsOwn, for a server that never begins the handshake.
func TestTheHandshakeHasATimeoutOfItsOwn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	g := New(Options{Timeout: 20 * time.Millisecond, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	ctx, a := attemptFor(t, g, "https://"+listener.Addr().String())
	_, err = g.dialAttempt(ctx, "tcp", "")
	require.ErrorIs(t, explain(t.Context(), err), ErrTimeout)
	require.Equal(t, "127.0.0.1", a.addr().String())
}

// The check at the socket holds for attempts too, whatever answer they bring.
func TestAnAttemptIsCheckedAtTheSocket(t *testing.T) {
	g := New(Options{})
	ctx, a := attemptFor(t, g, "https://1.1.1.1/")
	a.answer = newAnswer("1.1.1.1", []netip.Addr{netip.MustParseAddr("127.0.0.1")})
	_, err := g.dialAttempt(ctx, "tcp", "")
	require.ErrorAs(t, err, new(*RefusedError))
	require.False(t, a.addr().IsValid())
}
