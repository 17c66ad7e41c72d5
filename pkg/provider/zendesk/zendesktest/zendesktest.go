// Package zendesktest is a Zendesk for tests, as its documents say that tickets behave: an idempotency key makes one ticket, who
// is nobody is answered as such, and a ticket is solved only by somebody.
package zendesktest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"visavis.dev/pkg/base/egress"
)

// Email and Token are those of the agent that the account takes, and OAuth an access token.
const (
	Email = "agent@example.com"
	Token = "token-0123456789abcdef"
	OAuth = "oauth-0123456789abcdef"
)

// NoGroup is a group that the account does not have.
const NoGroup = 404

// Ticket is a ticket of the account.
type Ticket struct {
	ID         int64
	Subject    string
	ExternalID string
	Requester  *struct{ Name, Email string }
	Priority   string
	Status     string
	Tags       []string
	Group      int64
	// Comments are their plain texts, oldest first, and HTML what of them was given; Public counts those that the
	// requester reads.
	Comments []string
	HTML     []string
	Public   int
}

// Server is an account.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	tickets  []*Ticket
	keys     map[string]keyed
	behaves  []http.HandlerFunc
	requests []string
	// Assigned says that tickets have somebody who can solve them, and Revoked that no secret is taken.
	Assigned, Revoked bool
}

type keyed struct {
	body   string
	ticket *Ticket
}

// Start starts an account without tickets.
func Start() *Server {
	s := &Server{keys: map[string]keyed{}, Assigned: true}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Guard reaches the account.
func (s *Server) Guard() *egress.Guard {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
}

// Behave has the next requests answered otherwise, one each; nil as usual.
func (s *Server) Behave(by ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = append(s.behaves, by...)
}

// Lose is a behavior: the request is done, and its answer does not arrive.
func (s *Server) Lose(_ http.ResponseWriter, r *http.Request) {
	s.answer(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Put enters a ticket that was there before.
func (s *Server) Put(t Ticket) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enter(&t).ID
}

// Remove deletes a ticket.
func (s *Server) Remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.tickets {
		if t.ID == id {
			s.tickets = append(s.tickets[:i], s.tickets[i+1:]...)
			return
		}
	}
}

// Set changes the account.
func (s *Server) Set(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// ForgetKeys is what happens to keys after two hours.
func (s *Server) ForgetKeys() { s.Set(func(s *Server) { s.keys = map[string]keyed{} }) }

// Tickets are all tickets, oldest first.
func (s *Server) Tickets() []Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Ticket
	for _, t := range s.tickets {
		copied := *t
		copied.Comments, copied.HTML = append([]string(nil), t.Comments...), append([]string(nil), t.HTML...)
		all = append(all, copied)
	}
	return all
}

// Requests are the methods and paths of what was asked.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *Server) enter(t *Ticket) *Ticket {
	t.ID = int64(101 + len(s.tickets))
	if t.Status == "" {
		t.Status = "new"
	}
	s.tickets = append(s.tickets, t)
	return t
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if len(s.behaves) > 0 {
		next := s.behaves[0]
		s.behaves = s.behaves[1:]
		if next != nil {
			next(w, r)
			return
		}
	}
	s.answer(w, r)
}

// admits says whether the account knows who asks.
func (s *Server) admits(r *http.Request) bool {
	user, password, basic := r.BasicAuth()
	return !s.Revoked && (basic && user == Email+"/token" && password == Token || r.Header.Get("Authorization") == "Bearer "+OAuth)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v2"), ".json")
	switch {
	case path == "/users/me" && r.Header.Get("Authorization") == "":
		_, _ = fmt.Fprint(w, `{"user":{"id":null,"name":"Anonymous user","role":"end-user"}}`)
	case !s.admits(r):
		refuse(w, http.StatusUnauthorized, "Couldn't authenticate you")
	case path == "/users/me":
		_, _ = fmt.Fprint(w, `{"user":{"id":7,"name":"Ada Agent","role":"agent"}}`)
	case path == "/tickets" && r.Method == http.MethodGet:
		s.find(w, r.URL.Query().Get("external_id"))
	case path == "/tickets" && r.Method == http.MethodPost:
		s.create(w, r)
	default:
		s.one(w, r, strings.TrimPrefix(path, "/tickets/"))
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": why})
}

func (s *Server) find(w http.ResponseWriter, externalID string) {
	all := []any{}
	for _, t := range s.tickets {
		if t.ExternalID == externalID {
			all = append(all, t.shown())
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"tickets": all, "count": len(all)})
}

func (t *Ticket) shown() map[string]any {
	return map[string]any{"id": t.ID, "external_id": t.ExternalID, "status": t.Status, "subject": t.Subject}
}

type input struct {
	Subject    string                        `json:"subject"`
	ExternalID string                        `json:"external_id"`
	Requester  *struct{ Name, Email string } `json:"requester"`
	Priority   string                        `json:"priority"`
	Status     string                        `json:"status"`
	Tags       []string                      `json:"tags"`
	Group      int64                         `json:"group_id"`
	Comment    *comment                      `json:"comment"`
}

type comment struct {
	Body   string `json:"body"`
	HTML   string `json:"html_body"`
	Public *bool  `json:"public"`
}

// longest bounds a comment, in bytes.
const longest = 64 << 10

// size is that of a comment, in bytes.
func (c *comment) size() int { return max(len(c.Body), len(c.HTML)) }

// plain is the plain text of a comment, of whose HTML line breaks alone are known here.
func (c *comment) plain() string {
	if c.HTML == "" {
		return c.Body
	}
	return html.UnescapeString(strings.ReplaceAll(c.HTML, "<br>", "\n"))
}

func read(r *http.Request) (in input, text string, ok bool) {
	var body struct {
		Ticket json.RawMessage `json:"ticket"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || json.Unmarshal(body.Ticket, &in) != nil {
		return in, "", false
	}
	return in, string(body.Ticket), true
}

// write takes what a request says of a ticket.
func (t *Ticket) write(in *input) {
	if in.Comment != nil {
		t.Comments, t.HTML = append(t.Comments, in.Comment.plain()), append(t.HTML, in.Comment.HTML)
		if in.Comment.Public == nil || *in.Comment.Public {
			t.Public++
		}
	}
	if in.Status != "" {
		t.Status = in.Status
	}
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	in, text, ok := read(r)
	key := r.Header.Get("Idempotency-Key")
	known, had := s.keys[key]
	switch {
	case !ok || in.Comment == nil || in.Comment.plain() == "":
		refuse(w, http.StatusBadRequest, "BadRequest")
	case key != "" && had && known.body != text:
		refuse(w, http.StatusBadRequest, "IdempotentRequestError")
	case had:
		w.Header().Set("X-Idempotency-Lookup", "hit")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"ticket": known.ticket.shown()})
	case in.Comment.size() > longest, in.Group == NoGroup:
		refuse(w, http.StatusUnprocessableEntity, "RecordInvalid")
	case in.Requester != nil && (in.Requester.Name == "" || strings.Contains(in.Requester.Email, "invalid")):
		refuse(w, http.StatusUnprocessableEntity, "RecordInvalid")
	default:
		t := s.enter(&Ticket{Subject: in.Subject, ExternalID: in.ExternalID, Requester: in.Requester, Priority: in.Priority, Tags: in.Tags, Group: in.Group})
		t.write(&in)
		s.keys[key] = keyed{text, t}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"ticket": t.shown()})
	}
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, path string) {
	which, comments := strings.CutSuffix(path, "/comments")
	id, err := strconv.ParseInt(which, 10, 64)
	var t *Ticket
	for _, each := range s.tickets {
		if each.ID == id {
			t = each
		}
	}
	switch {
	case err != nil || t == nil:
		refuse(w, http.StatusNotFound, "RecordNotFound")
	case comments && r.Method == http.MethodGet:
		all := []any{}
		for i := range t.Comments {
			text := t.Comments[len(t.Comments)-1-i]
			all = append(all, map[string]any{"plain_body": text, "body": text})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"comments": all})
	case r.Method == http.MethodPut:
		s.update(w, r, t)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *Server) update(w http.ResponseWriter, r *http.Request, t *Ticket) {
	in, _, ok := read(r)
	switch {
	case !ok:
		refuse(w, http.StatusBadRequest, "BadRequest")
	case in.Comment != nil && in.Comment.size() > longest, t.Status == "closed", in.Status == "solved" && !s.Assigned:
		refuse(w, http.StatusUnprocessableEntity, "RecordInvalid")
	default:
		t.write(&in)
		_ = json.NewEncoder(w).Encode(map[string]any{"ticket": t.shown()})
	}
}
