package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"
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
			relayedHeader: {s.id().String()}, "Authorization": {"Bearer " + string(c.token)}, "Origin": c.request.Header["Origin"],
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
