// Package livetest is a client of the live protocol, for tests, load and the
// terminal.
package livetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/visits/live"
)

// Message is what a server sends.
type Message struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	// Sound is a binary frame, which has no type and no data.
	Sound []byte `json:"-"`
	// Direct says that it came over WebRTC.
	Direct bool `json:"-"`
	// At is when it arrived.
	At time.Time `json:"-"`
}

// Client is a client of a session: at a socket, or in a media server's room.
type Client struct {
	line   line
	in     chan Message
	end    error
	cancel context.CancelFunc
	// direct is the WebRTC connection beside a socket; nil for none.
	direct atomic.Pointer[Direct]

	mu sync.Mutex
	n  int
}

// Dial connects to a session's socket with a token.
func Dial(ctx context.Context, url, token string) (*Client, error) {
	return DialFrom(ctx, "", url, token)
}

// DialFrom connects as a page of an origin does; empty for no page.
func DialFrom(ctx context.Context, origin, url, token string) (*Client, error) {
	return dial(ctx, nil, origin, url, token)
}

func dial(ctx context.Context, by *http.Client, origin, url, token string) (*Client, error) {
	o := &websocket.DialOptions{HTTPClient: by, Subprotocols: []string{live.Subprotocol, "token." + token}, HTTPHeader: http.Header{}}
	if origin != "" {
		o.HTTPHeader.Set("Origin", origin)
	}
	socket, _, err := websocket.Dial(ctx, url, o)
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(1 << 20)
	return begin(ctx, socketLine{socket}), nil
}

func begin(ctx context.Context, l line) *Client {
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Client{line: l, in: make(chan Message, 1024), cancel: cancel}
	go c.read(reading)
	return c
}

func (c *Client) read(ctx context.Context) {
	defer close(c.in)
	for {
		data, binary, err := c.line.read(ctx)
		if err != nil {
			c.end = err
			return
		}
		m := Message{At: time.Now()}
		if binary {
			m.Sound = data
		} else if err := json.Unmarshal(data, &m); err != nil {
			c.end = err
			return
		}
		if d := c.direct.Load(); d != nil && d.signal(m) {
			continue
		}
		select {
		case c.in <- m:
		case <-ctx.Done():
			return
		}
	}
}

// Messages are what the server sends, until the socket ends.
func (c *Client) Messages() <-chan Message { return c.in }

// CloseCode is the code the socket was closed with, once Messages ended.
func (c *Client) CloseCode() int { return int(websocket.CloseStatus(c.end)) }

// Send sends a message; data may be nil.
func (c *Client) Send(ctx context.Context, kind string, data any) error {
	c.mu.Lock()
	c.n++
	text, err := json.Marshal(map[string]any{"id": fmt.Sprint(c.n), "type": kind, "data": data})
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if d := c.direct.Load(); d != nil && !strings.HasPrefix(kind, "rtc-") && d.isOpen() {
		return d.send(text)
	}
	return c.line.write(ctx, text)
}

// SendSound sends a frame of the user's sound.
func (c *Client) SendSound(ctx context.Context, frame []byte) error {
	return c.line.sound(ctx, frame)
}

// Say sends words of the user's.
func (c *Client) Say(ctx context.Context, text string) error {
	return c.Send(ctx, "user-text", map[string]string{"text": text})
}

// ErrClosed says that the socket ended before a message came.
var ErrClosed = errors.New("the socket ended")

// Until reads messages up to the first that fn accepts and answers it.
func (c *Client) Until(ctx context.Context, fn func(Message) bool) (Message, error) {
	for {
		select {
		case m, open := <-c.in:
			if !open {
				return m, fmt.Errorf("%w: %w", ErrClosed, c.end)
			}
			if fn(m) {
				return m, nil
			}
		case <-ctx.Done():
			return Message{}, ctx.Err()
		}
	}
}

// UntilType reads messages up to the first of a type.
func (c *Client) UntilType(ctx context.Context, kind string) (Message, error) {
	return c.Until(ctx, func(m Message) bool { return m.Type == kind })
}

// Leave closes the socket as a user who is done.
func (c *Client) Leave() { c.line.leave() }

// Drop breaks the connection off.
func (c *Client) Drop() {
	c.cancel()
	c.line.drop()
}
