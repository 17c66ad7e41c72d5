package egress_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

// echo is a WebSocket that says what it hears.
func echo(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer socket.CloseNow()
	for {
		kind, data, err := socket.Read(r.Context())
		if err != nil || socket.Write(r.Context(), kind, data) != nil {
			return
		}
	}
}

func TestUpgrader(t *testing.T) {
	s := serve(t, echo)
	g := guardFor(t, s, func(o *egress.Options) { o.Timeout, o.MaxBody = 500*time.Millisecond, 4 })
	socket, _, err := websocket.Dial(t.Context(), s.named(), &websocket.DialOptions{HTTPClient: g.Upgrader()})
	require.NoError(t, err)
	defer socket.CloseNow()
	// It outlives the bounds of a request: in bytes, and in time.
	until := time.Now().Add(time.Second)
	for said := false; !said || time.Now().Before(until); said = true {
		require.NoError(t, socket.Write(t.Context(), websocket.MessageText, []byte("longer than the bound")))
		_, data, err := socket.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, "longer than the bound", string(data))
	}
	require.NoError(t, socket.Close(websocket.StatusNormalClosure, ""))
}

func TestUpgraderRefuses(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stalls" {
			<-r.Context().Done()
			return
		}
		http.Redirect(w, r, "https://127.0.0.1/", http.StatusFound)
	})
	private := egress.New(egress.Options{RootCAs: s.roots(), Resolver: resolvesTo("127.0.0.1")})
	hasty := guardFor(t, s, func(o *egress.Options) { o.Timeout = 100 * time.Millisecond })
	for name, c := range map[string]struct {
		guard *egress.Guard
		url   string
		is    func(error) bool
	}{
		"a private address": {private, s.named(), as[*egress.RefusedError]},
		"plain text":        {private, "ws://example.com", as[*egress.InvalidURLError]},
		"a redirect":        {guardFor(t, s), s.named(), as[*egress.RedirectError]},
		"silence":           {hasty, s.named() + "/stalls", func(err error) bool { return errors.Is(err, egress.ErrTimeout) }},
	} {
		t.Run(name, func(t *testing.T) {
			socket, resp, err := websocket.Dial(context.Background(), c.url, &websocket.DialOptions{HTTPClient: c.guard.Upgrader()})
			require.Error(t, err)
			require.Nil(t, socket)
			if resp != nil {
				require.NoError(t, resp.Body.Close())
			}
			require.True(t, c.is(err), "%v", err)
		})
	}
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestCheckAddr(t *testing.T) {
	g := egress.New(egress.Options{Allow: loopback})
	require.NoError(t, g.CheckAddr(netip.MustParseAddr("127.0.0.1")))
	require.NoError(t, g.CheckAddr(netip.MustParseAddr("1.1.1.1")))
	var refused *egress.RefusedError
	require.ErrorAs(t, g.CheckAddr(netip.MustParseAddr("10.0.0.1")), &refused)
	require.Equal(t, egress.ClassPrivate, refused.Class)
}
