package live

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/id"
)

// dialWithin is how long another process may take to answer. One that does not
// is taken to be dead: the session is taken over, and its epoch keeps the other
// from writing should it live after all.
const dialWithin = 2 * time.Second

// relay brings a caller to the process that runs its session and passes on what
// each sends. It is false when that process cannot be reached.
func (s *Server) relay(ctx context.Context, c *caller, address string) bool {
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	//nolint:bodyclose // the answer that opens a socket has no body
	there, _, err := websocket.Dial(dialing, "ws://"+address+Path+c.which.String(), &websocket.DialOptions{
		HTTPHeader: http.Header{
			relayedHeader: {s.seal(c.which)}, "Authorization": {"Bearer " + string(c.token)}, "Origin": c.request.Header["Origin"],
		},
		Subprotocols: []string{Subprotocol},
	})
	if err != nil {
		s.Log.WarnContext(ctx, "the process of a session cannot be reached", "session", c.which.String(), "address", address, "error", err)
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

// Relayed says whether another of our processes brought a socket: it was counted
// for its caller's address there, and is brought no further.
func (s *Server) Relayed(r *http.Request) bool {
	which, err := id.ParseSession(strings.TrimPrefix(r.URL.Path, Path))
	return err == nil && hmac.Equal([]byte(r.Header.Get(relayedHeader)), []byte(s.seal(which)))
}

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
