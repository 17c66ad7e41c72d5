package live

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/conversation"
	"visavis.dev/pkg/id"
)

// The codes a socket is closed with, beside those of RFC 6455.
const (
	closeBadToken   websocket.StatusCode = 4001
	closeEnded      websocket.StatusCode = 4002
	closeSuperseded websocket.StatusCode = 4003
	closeIdle       websocket.StatusCode = 4008
	closeNoPlace    websocket.StatusCode = 4029
	closeElsewhere                       = websocket.StatusServiceRestart
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

// peer is a socket with what waits to be sent over it.
type peer struct {
	socket *websocket.Conn
	out    chan *frame
	// gone is closed when nothing more is sent.
	gone chan struct{}
}

// frame is a message, or the end of all.
type frame struct {
	data   []byte
	end    bool
	code   websocket.StatusCode
	reason string
}

func newPeer(socket *websocket.Conn) *peer {
	return &peer{socket: socket, out: make(chan *frame, waiting), gone: make(chan struct{})}
}

// send queues a message. A peer that does not take what it is sent is let go.
func (p *peer) send(f frame) {
	select {
	case p.out <- &f:
	case <-p.gone:
	default:
		_ = p.socket.CloseNow()
	}
}

func (p *peer) close(code websocket.StatusCode, reason string) {
	p.send(frame{end: true, code: code, reason: reason})
}

// write sends what is queued until the socket ends.
func (p *peer) write(ctx context.Context) {
	defer close(p.gone)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case f := <-p.out:
			if f.end {
				_ = p.socket.Close(f.code, f.reason)
				return
			}
			if p.within(ctx, func(ctx context.Context) error { return p.socket.Write(ctx, websocket.MessageText, f.data) }) != nil {
				_ = p.socket.CloseNow()
				return
			}
		case <-ping.C:
			// The answer is read by the reader; waiting for it here would hold
			// up what is to be sent.
			go func() {
				if p.within(ctx, p.socket.Ping) != nil {
					_ = p.socket.CloseNow()
				}
			}()
		case <-ctx.Done():
			return
		}
	}
}

func (p *peer) within(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return fn(ctx)
}

// read gives every message to fn until the socket ends, and answers how it did.
func (p *peer) read(ctx context.Context, text, binary func([]byte)) websocket.StatusCode {
	for {
		kind, data, err := p.socket.Read(ctx)
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

// message writes a message of the protocol.
func (s *Server) message(kind string, data any) frame {
	return encode(conversation.Message{ID: id.NewTurn().Bare(), Type: kind, Data: data, T: s.Clock.Now().UnixMilli()})
}

func encode(m conversation.Message) frame {
	text, err := json.Marshal(m)
	if err != nil {
		panic(errors.Join(errors.New("a message cannot be written"), err)) // a fault of the program
	}
	return frame{data: text}
}
