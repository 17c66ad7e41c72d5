package live

import (
	"context"
	"math"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/speech/playout"
)

const (
	// waiting bounds the messages that wait for a slow peer.
	waiting = 256
	// writeWithin is how long a peer may take for one message.
	writeWithin = 10 * time.Second
	// pingEvery is how often a silent peer is asked whether it is there.
	pingEvery = 15 * time.Second
	// maxFrame bounds what a peer sends at once.
	maxFrame = 64 << 10
)

// socket is a peer at a WebSocket, with what waits to be sent over it.
type socket struct {
	conn *websocket.Conn
	out  chan *frame
	// gone is closed when nothing more is sent.
	gone chan struct{}
	// direct is the WebRTC connection beside it; nil for none.
	direct *direct
}

func newSocket(conn *websocket.Conn) *socket {
	return &socket{conn: conn, out: make(chan *frame, waiting), gone: make(chan struct{})}
}

// send sends a message, over the WebRTC connection where that is open.
func (s *socket) send(f frame) {
	if !s.direct.take(f) {
		s.queue(f)
	}
}

// queue queues a message for the socket. A peer that does not take what it is sent is let go.
func (s *socket) queue(f frame) {
	select {
	case s.out <- &f:
	case <-s.gone:
	default:
		_ = s.conn.CloseNow()
	}
}

func (s *socket) close(code websocket.StatusCode, reason string) {
	s.send(frame{end: true, code: code, reason: reason})
}

// write sends what is queued until the socket ends.
func (s *socket) write(ctx context.Context) {
	defer close(s.gone)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case f := <-s.out:
			if f.end {
				_ = s.conn.Close(f.code, f.reason)
				return
			}
			if f.stopped != nil && f.stopped.Load() {
				continue
			}
			kind := websocket.MessageText
			if f.binary {
				kind = websocket.MessageBinary
			}
			if s.within(ctx, func(ctx context.Context) error { return s.conn.Write(ctx, kind, f.data) }) != nil {
				_ = s.conn.CloseNow()
				return
			}
		case <-ping.C:
			// The answer is read by the reader; waiting for it here would hold
			// up what is to be sent.
			go func() {
				if s.within(ctx, s.conn.Ping) != nil {
					_ = s.conn.CloseNow()
				}
			}()
		case <-ctx.Done():
			return
		}
	}
}

func (s *socket) within(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return fn(ctx)
}

// read gives every message to fn until the socket ends, and answers how it did.
func (s *socket) read(ctx context.Context, text, binary func([]byte)) websocket.StatusCode {
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return websocket.CloseStatus(err)
		}
		if kind == websocket.MessageText {
			text(data)
		} else {
			binary(data)
		}
	}
}

func (s *socket) plays() bool { return true }

// carries implements peer: over the WebRTC connection, where that is open, sound is a track.
func (s *socket) carries(f playout.Format) playout.Format {
	if s.direct.isOpen() {
		return playout.Track
	}
	return f
}

func (s *socket) most() int { return math.MaxInt }
