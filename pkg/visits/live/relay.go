package live

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/id"
)

// dialWithin is how long another process may take to answer. One that does not, or that
// cannot show that it is one of ours, is taken to be dead: the session is taken over, and
// its epoch keeps the other from writing should it live after all.
const dialWithin = 2 * time.Second

const (
	// relayProtocol is what a connection of two processes is upgraded to: TLS in which each
	// shows that it has the secret, and in that the socket.
	relayProtocol = "visavis-relay"
	// relayedHeader holds the seal of a process that asks for relayProtocol. Whoever is
	// asked sees it, so it proves nothing: it spares a process the limit of its address.
	relayedHeader = "X-Visavis-Relayed"
)

// relay brings a caller to the process that runs its session and passes on what
// each sends. It is false when that process cannot be reached.
func (s *Server) relay(ctx context.Context, c *caller, address string) bool {
	there, err := s.reach(ctx, c, address)
	if err != nil {
		s.Log.WarnContext(ctx, "failed to reach the process of a session", "session", c.which.String(), "address", address, "error", err)
		return false
	}
	defer func() { _ = there.CloseNow() }()
	there.SetReadLimit(-1) // what our own processes send is bounded where it is made
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pass(ctx, there, c.socket)
	}()
	pass(ctx, c.socket, there)
	<-ended
	return true
}

// reach opens a socket to the process at an address. The token is sent only once that
// process has shown that it has the secret.
func (s *Server) reach(ctx context.Context, c *caller, address string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	conn, err := s.secure(ctx, c.which, address)
	if err != nil {
		return nil, err
	}
	//nolint:bodyclose // the answer that opens a socket has no body
	there, _, err := websocket.Dial(ctx, "wss://"+address+Path+c.which.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{
			Proxy:             nil, // in particular not the environment's
			DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return conn, nil },
			DisableKeepAlives: true,
		}},
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + string(c.token)}, "Origin": c.request.Header["Origin"]},
		Subprotocols: []string{Subprotocol},
	})
	if err != nil {
		_ = conn.Close()
	}
	return there, err
}

// Relayed says whether a request is another of our processes' that brings a socket: that
// was counted for its caller's address there.
func (s *Server) Relayed(r *http.Request) bool {
	which, err := id.ParseSession(strings.TrimPrefix(r.URL.Path, Path))
	return err == nil && asksToRelay(r) && hmac.Equal([]byte(r.Header.Get(relayedHeader)), []byte(s.seal(which)))
}

func asksToRelay(r *http.Request) bool { return r.Header.Get("Upgrade") == relayProtocol }

// seal is what only our own processes can say of a session.
func (s *Server) seal(which id.Session) string {
	mac := hmac.New(sha256.New, s.Secret)
	mac.Write([]byte("relay " + which.String()))
	return hex.EncodeToString(mac.Sum(nil))
}

// pass passes on what comes from a socket until it ends, and then its end.
func pass(ctx context.Context, from, to *websocket.Conn) {
	for {
		kind, data, err := from.Read(ctx)
		if err != nil {
			var end websocket.CloseError
			if errors.As(err, &end) && end.Code != websocket.StatusNoStatusRcvd && end.Code != websocket.StatusAbnormalClosure {
				_ = to.Close(end.Code, end.Reason)
				return
			}
			_ = to.CloseNow()
			return
		}
		ctx, cancel := context.WithTimeout(ctx, writeWithin)
		err = to.Write(ctx, kind, data)
		cancel()
		if err != nil {
			_ = from.CloseNow()
			return
		}
	}
}
