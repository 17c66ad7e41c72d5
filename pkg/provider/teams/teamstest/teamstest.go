// Package teamstest is a webhook of Microsoft Teams for tests, as its documents say that those of workflows behave: cards in an
// envelope, of 28 KB at most, are accepted, and shown later.
package teamstest

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"

	"visavis.dev/pkg/base/egress"
)

// Path and Query are the webhook's that is there.
const (
	Path  = "/powerautomate/automations/direct/workflows/0123456789abcdef/triggers/manual/paths/invoke"
	Query = "?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=good-good_good"
)

// Server is a channel with a webhook.
type Server struct {
	*httptest.Server

	mu      sync.Mutex
	behaves []http.HandlerFunc
	cards   []Card
}

// Card is what came into the channel.
type Card struct {
	Type    string `json:"type"`
	Version string `json:"version"`
	Body    []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Inlines []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"inlines"`
	} `json:"body"`
	Actions []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"actions"`
}

// Start starts a channel.
func Start() *Server {
	s := &Server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Hook is the webhook's address.
func (s *Server) Hook() string { return s.URL + Path + Query }

// Guard reaches the channel.
func (s *Server) Guard() *egress.Guard {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
}

// Behave has the next requests answered otherwise, one each.
func (s *Server) Behave(by ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = append(s.behaves, by...)
}

// Cards are those in the channel.
func (s *Server) Cards() []Card {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Card(nil), s.cards...)
}

const largest = 28 << 10

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.behaves) > 0 {
		next := s.behaves[0]
		s.behaves = s.behaves[1:]
		next(w, r)
		return
	}
	if r.URL.Path != Path || r.URL.Query().Get("sig") != "good-good_good" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	var message struct {
		Type        string `json:"type"`
		Attachments []struct {
			ContentType string `json:"contentType"`
			Content     Card   `json:"content"`
		} `json:"attachments"`
	}
	switch {
	case err != nil, json.Unmarshal(body, &message) != nil, message.Type != "message", len(message.Attachments) != 1,
		message.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive", message.Attachments[0].Content.Type != "AdaptiveCard":
		w.WriteHeader(http.StatusBadRequest)
		return
	case len(body) > largest:
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	s.cards = append(s.cards, message.Attachments[0].Content)
	w.WriteHeader(http.StatusAccepted)
}

// Words are all texts of a card, one a line.
func (c *Card) Words() string {
	var all []string
	for _, b := range c.Body {
		texts := []string{b.Text}
		for _, i := range b.Inlines {
			texts = append(texts, i.Text)
		}
		all = append(all, strings.Join(texts, ""))
	}
	return strings.Join(all, "\n")
}
