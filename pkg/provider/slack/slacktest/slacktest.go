// Package slacktest is a Slack for tests, as its documents say that incoming webhooks behave: blocks within
// their bounds or nothing, and ok in plain text.
package slacktest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"unicode/utf8"

	"visavis.dev/pkg/base/egress"
)

// Path is the webhook's that is there.
const Path = "/services/T0001/B0001/goodgoodgoodgoodgoodgood"

// Server is a workspace with a webhook.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	behaves  []http.HandlerFunc
	messages []Message
	calls    int
}

// Message is what came into the channel.
type Message struct {
	Text   string  `json:"text"`
	Blocks []Block `json:"blocks"`
	// Raw is the whole body.
	Raw string `json:"-"`
}

// Block is a part of a message.
type Block struct {
	Type     string `json:"type"`
	Text     *Text  `json:"text"`
	Fields   []Text `json:"fields"`
	Elements []Text `json:"elements"`
}

// Text is a text object.
type Text struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"`
}

// Start starts a workspace.
func Start() *Server {
	s := &Server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Hook is the webhook's address.
func (s *Server) Hook() string { return s.URL + Path }

// Roots are the authorities by which it is trusted.
func (s *Server) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots
}

// Guard reaches the workspace.
func (s *Server) Guard() *egress.Guard {
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: s.Roots()})
}

// Behave has the next requests answered otherwise, one each; nil as usual.
func (s *Server) Behave(by ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = append(s.behaves, by...)
}

// Messages are those in the channel.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.messages...)
}

// Calls counts the requests.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if len(s.behaves) > 0 {
		next := s.behaves[0]
		s.behaves = s.behaves[1:]
		if next != nil {
			next(w, r)
			return
		}
	}
	body, err := io.ReadAll(r.Body)
	var m Message
	switch {
	case r.URL.Path != Path:
		answer(w, http.StatusNotFound, "no_service")
		return
	case err != nil, r.Header.Get("Content-Type") != "application/json", json.Unmarshal(body, &m) != nil:
		answer(w, http.StatusBadRequest, "invalid_payload")
		return
	case m.Text == "" && len(m.Blocks) == 0:
		answer(w, http.StatusBadRequest, "no_text")
		return
	case !m.valid():
		answer(w, http.StatusBadRequest, "invalid_blocks")
		return
	}
	m.Raw = string(body)
	s.messages = append(s.messages, m)
	answer(w, http.StatusOK, "ok")
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, text)
}

// valid says whether blocks are within the bounds of Block Kit.
func (m *Message) valid() bool {
	if len(m.Blocks) > 50 {
		return false
	}
	for _, b := range m.Blocks {
		if !b.valid() {
			return false
		}
	}
	return true
}

func (b *Block) valid() bool {
	within := func(t *Text, most int) bool {
		return t != nil && t.Text != "" && utf8.RuneCountInString(t.Text) <= most
	}
	switch b.Type {
	case "header":
		return within(b.Text, 150) && b.Text.Type == "plain_text"
	case "section":
		for i := range b.Fields {
			if !within(&b.Fields[i], 2000) {
				return false
			}
		}
		return len(b.Fields) <= 10 && (within(b.Text, 3000) || b.Text == nil && len(b.Fields) > 0)
	case "context":
		return len(b.Elements) > 0 && len(b.Elements) <= 10
	}
	return false
}

// Words are all texts of a message, one a line.
func (m *Message) Words() string {
	var all []string
	for _, b := range m.Blocks {
		if b.Text != nil {
			all = append(all, b.Text.Text)
		}
		for _, t := range append(append([]Text{}, b.Fields...), b.Elements...) {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}
