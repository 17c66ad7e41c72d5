// Package deepgramtest is Deepgram's streaming service, for tests: it understands what a
// script says, as far as the sound of it has come.
package deepgramtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// bytesASecond is how much sound a second is, at 16 kHz.
const bytesASecond = 32000

// Server is the service.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	script   []string
	status   int
	silent   bool
	queries  []url.Values
	keys     []string
	controls []string
	sockets  []*websocket.Conn
	open     int
}

// Serve starts a service over TLS. Each stretch of sound until a Finalize is understood as
// the script's next line: a word for each third of a second while it comes.
func Serve(t testing.TB, script ...string) *Server {
	t.Helper()
	s := &Server{script: script}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Refuse answers with a status instead of opening streams; 0 for no more.
func (s *Server) Refuse(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Hang takes sound and says nothing any more.
func (s *Server) Hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
}

// Say has every open stream told a result of a stretch of its sound, in seconds.
func (s *Server) Say(text string, start, duration float64, final, finalized bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := results(text, start, duration, final, finalized)
	for _, socket := range s.sockets {
		_ = socket.Write(context.Background(), websocket.MessageText, data)
	}
}

// Break breaks every stream off.
func (s *Server) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, socket := range s.sockets {
		_ = socket.CloseNow()
	}
	s.sockets = nil
}

// Open is how many streams are open.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Queries are those by which streams were opened, Keys what they were authorized by, and
// Controls the types of the messages that came.
func (s *Server) Queries() []url.Values { return copied(s, &s.queries) }

// Keys are the streams' Authorization headers.
func (s *Server) Keys() []string { return copied(s, &s.keys) }

// Controls are the types of the messages that came.
func (s *Server) Controls() []string { return copied(s, &s.controls) }

func copied[T any](s *Server, from *[]T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]T(nil), *from...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	status := s.status
	s.queries, s.keys = append(s.queries, r.URL.Query()), append(s.keys, r.Header.Get("Authorization"))
	s.mu.Unlock()
	if r.URL.Path != "/v1/listen" || status != 0 {
		w.WriteHeader(max(status, http.StatusBadRequest))
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.sockets = append(s.sockets, socket)
	s.open++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
	}()
	c := connection{Server: s, socket: socket}
	c.serve(r.Context())
}

// connection is one stream, and what came of it: in all, and since the last Finalize.
type connection struct {
	*Server
	socket     *websocket.Conn
	all, began int
	line       string
	words      int
}

func (c *connection) serve(ctx context.Context) {
	for {
		kind, data, err := c.socket.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			c.hear(ctx, len(data))
			continue
		}
		var m struct{ Type string }
		_ = json.Unmarshal(data, &m)
		c.mu.Lock()
		c.controls = append(c.controls, m.Type)
		c.mu.Unlock()
		if m.Type == "Finalize" {
			c.finalize(ctx)
		}
	}
}

// hear understands one more word for each third of a second.
func (c *connection) hear(ctx context.Context, count int) {
	if c.all == c.began {
		c.line, c.words = c.next(), 0
	}
	c.all += count
	words := strings.Fields(c.line)
	if n := min((c.all-c.began)*3/bytesASecond, len(words)); n > c.words {
		c.words = n
		c.tell(ctx, strings.Join(words[:n], " "), false, false)
	}
}

func (c *connection) next() (line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.script) > 0 {
		line, c.script = c.script[0], c.script[1:]
	}
	return line
}

func (c *connection) finalize(ctx context.Context) {
	if c.all > c.began {
		c.tell(ctx, c.line, true, true)
		c.began = c.all
	}
}

func (c *connection) tell(ctx context.Context, text string, final, finalized bool) {
	c.mu.Lock()
	silent := c.silent
	c.mu.Unlock()
	if silent {
		return
	}
	data := results(text, float64(c.began)/bytesASecond, float64(c.all-c.began)/bytesASecond, final, finalized)
	_ = c.socket.Write(ctx, websocket.MessageText, data)
}

func results(text string, start, duration float64, final, finalized bool) []byte {
	data, _ := json.Marshal(map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": start, "duration": duration,
		"is_final": final, "speech_final": false, "from_finalize": finalized,
		"channel": map[string]any{"alternatives": []any{map[string]any{"transcript": text, "confidence": 0.98, "words": []any{}}}},
	})
	return data
}
