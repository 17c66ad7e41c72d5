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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

	// authors wrote the comments, and public says whether the requester reads them.
	authors []int64
	public  []bool
	ids     []int64
	at      []time.Time
	version int
	updated time.Time
}

// The users of an account.
const (
	us        = 7
	agent     = 8
	requester = 9
)

// Server is an account.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	tickets  []*Ticket
	keys     map[string]keyed
	idle     []int64
	comments int64
	lies     bool
	behaves  []http.HandlerFunc
	requests []string
	// Now is the account's clock, which shows whole seconds; nil for none.
	Now func() time.Time
	// Assigned says that tickets have somebody who can solve them, and Revoked that no secret is taken.
	Assigned, Revoked bool
	// Fails says which requests are answered with status 500; nil for none.
	Fails func(r *http.Request) bool
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

// Calm takes back what Behave said.
func (s *Server) Calm() { s.Set(func(s *Server) { s.behaves = nil }) }

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

// Reply has an agent of the account, or the requester, write a public comment.
func (s *Server) Reply(id int64, byAgent bool, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	author := int64(requester)
	if byAgent {
		author = agent
	}
	for _, t := range s.tickets {
		if t.ID == id {
			s.comment(t, author, true, text, "")
		}
	}
}

// Turn has an agent give a ticket a status.
func (s *Server) Turn(id int64, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tickets {
		if t.ID == id {
			t.Status = status
			s.touch(t)
		}
	}
}

// Lie has the account never say that a ticket changed.
func (s *Server) Lie() { s.Set(func(s *Server) { s.lies = true }) }

// Idle are the tickets that were given what they had.
func (s *Server) Idle() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int64(nil), s.idle...)
}

func (s *Server) touch(t *Ticket) {
	if !s.lies {
		t.version++
		t.updated = s.now()
	}
}

func (s *Server) now() time.Time {
	if s.Now == nil {
		return time.Time{}
	}
	return s.Now()
}

func (s *Server) comment(t *Ticket, author int64, public bool, text, html string) {
	s.comments++
	t.Comments, t.HTML, t.authors = append(t.Comments, text), append(t.HTML, html), append(t.authors, author)
	t.public, t.ids = append(t.public, public), append(t.ids, s.comments)
	t.at = append(t.at, s.now())
	if public {
		t.Public++
	}
	s.touch(t)
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
	for range t.Comments {
		s.comments++
		t.authors, t.public, t.ids = append(t.authors, us), append(t.public, false), append(t.ids, s.comments)
		t.at = append(t.at, s.now())
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
	if s.Fails != nil && s.Fails(r) {
		refuse(w, http.StatusInternalServerError, "InternalError")
		return
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
	case path == "/tickets/show_many":
		s.many(w, r)
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

func (s *Server) many(w http.ResponseWriter, r *http.Request) {
	all, asked := []any{}, strings.Split(r.URL.Query().Get("ids"), ",")
	if len(asked) > 100 {
		refuse(w, http.StatusBadRequest, "too many")
		return
	}
	for _, t := range s.tickets {
		if slices.Contains(asked, strconv.FormatInt(t.ID, 10)) {
			all = append(all, t.shown())
		}
	}
	answer := map[string]any{"tickets": all, "count": len(all)}
	if r.URL.Query().Get("include") == "users" {
		answer["users"] = users
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (t *Ticket) shown() map[string]any {
	whose, updated := requester, fmt.Sprintf("2026-11-01T00:00:00Z+%d", t.version)
	if t.Requester == nil { // it is who made it
		whose = us
	}
	if !t.updated.IsZero() {
		updated = t.updated.UTC().Format(time.RFC3339)
	}
	return map[string]any{
		"id": t.ID, "external_id": t.ExternalID, "status": t.Status, "subject": t.Subject, "requester_id": whose, "updated_at": updated,
	}
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
func (s *Server) write(t *Ticket, in *input) {
	if in.Comment == nil && (in.Status == "" || in.Status == t.Status) {
		s.idle = append(s.idle, t.ID)
	}
	if in.Comment != nil {
		s.comment(t, us, in.Comment.Public == nil || *in.Comment.Public, in.Comment.plain(), in.Comment.HTML)
	}
	if in.Status != "" {
		t.Status = in.Status
	}
	s.touch(t)
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
		s.write(t, &in)
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
		t.list(w, r)
	case r.Method == http.MethodPut:
		s.update(w, r, t)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

var users = []any{
	map[string]any{"id": us, "role": "admin"}, map[string]any{"id": agent, "role": "agent"}, map[string]any{"id": requester, "role": "end-user"},
}

// list answers a page of the comments, newest first.
func (t *Ticket) list(w http.ResponseWriter, r *http.Request) {
	size, page := 100, 1
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		size = n
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		page = n
	}
	all := []any{}
	for i := range t.Comments {
		at := len(t.Comments) - 1 - i
		shown := map[string]any{
			"id": t.ids[at], "author_id": t.authors[at], "public": t.public[at], "plain_body": t.Comments[at], "body": t.Comments[at],
		}
		if !t.at[at].IsZero() {
			shown["created_at"] = t.at[at].UTC().Format(time.RFC3339)
		}
		all = append(all, shown)
	}
	from, to := min((page-1)*size, len(all)), min(page*size, len(all))
	answer := map[string]any{"comments": all[from:to], "next_page": nil, "users": users}
	if to < len(all) {
		answer["next_page"] = "https://" + r.Host + "/next"
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) update(w http.ResponseWriter, r *http.Request, t *Ticket) {
	in, _, ok := read(r)
	switch {
	case !ok:
		refuse(w, http.StatusBadRequest, "BadRequest")
	case in.Comment != nil && in.Comment.size() > longest, t.Status == "closed", in.Status == "solved" && !s.Assigned:
		refuse(w, http.StatusUnprocessableEntity, "RecordInvalid")
	default:
		s.write(t, &in)
		_ = json.NewEncoder(w).Encode(map[string]any{"ticket": t.shown()})
	}
}
