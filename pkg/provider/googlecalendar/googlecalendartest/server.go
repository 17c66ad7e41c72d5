// Package googlecalendartest is a Google Calendar for tests, as its documents say that it behaves, with an authorization
// server that replaces refresh tokens whenever they are used, and takes none any more once an old one was used again.
package googlecalendartest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"visavis.dev/pkg/base/egress"
)

// What the account is.
const (
	ClientID     = "client-1"
	ClientSecret = "GOCSPX-good"
	FirstRefresh = "1//refresh-0"
	Calendar     = "ada@example.com"
)

// Server is an account with one calendar.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	events   map[string]map[string]any
	refresh  string
	access   map[string]bool
	given    int
	redeemed int
	revoked  bool
	next     int
	behaves  []http.HandlerFunc
	asked    []string
	// BusyOnly says that the account sees when the calendar is busy, and no events.
	BusyOnly bool
}

// Start starts one with an empty calendar.
func Start() *Server {
	s := &Server{events: map[string]map[string]any{}, refresh: FirstRefresh, access: map[string]bool{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Guard reaches the account.
func (s *Server) Guard() *egress.Guard {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
}

// Secret is what a connection is given.
func (s *Server) Secret() string { return ClientSecret + ":" + FirstRefresh }

// Behave has the next requests answered otherwise, one each; nil as usual.
func (s *Server) Behave(by ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = append(s.behaves, by...)
}

// Expire has no access token be taken any more.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access = map[string]bool{}
}

// Revoke has no refresh token be taken any more; Grant gives another one.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked, s.access = true, map[string]bool{}
}

// Grant has a refresh token be taken.
func (s *Server) Grant(refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked, s.refresh = false, refresh
}

// Redeemed is how many access tokens were given, and Revoked says that a refresh token was used twice, or taken back.
func (s *Server) Redeemed() (n int, revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.redeemed, s.revoked
}

// Events are what the calendar holds, by their ids.
func (s *Server) Events() map[string]map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]map[string]any{}
	for id, e := range s.events {
		all[id] = maps.Clone(e)
	}
	return all
}

// Put writes an event, as a person does.
func (s *Server) Put(id string, e map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(id, e)
}

func (s *Server) put(id string, e map[string]any) {
	s.next++
	e["id"], e["etag"] = id, fmt.Sprintf(`"%d"`, s.next)
	if e["status"] == nil {
		e["status"] = "confirmed"
	}
	s.events[id] = e
}

// Asked are the methods and paths of what was asked.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	var by http.HandlerFunc
	if len(s.behaves) > 0 {
		by, s.behaves = s.behaves[0], s.behaves[1:]
	}
	s.mu.Unlock()
	if by != nil {
		by(w, r)
		return
	}
	s.Serve(w, r)
}

// Serve answers as usual.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/token" {
		s.token(w, r)
		return
	}
	if !s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	events := "/calendars/" + Calendar + "/events"
	switch {
	case r.URL.Path == "/users/me/calendarList":
		answer(w, map[string]any{"items": []any{map[string]any{"id": Calendar, "summary": "Ada", "accessRole": "owner"}, map[string]any{"id": "team@example.com", "summary": "Team", "accessRole": "reader"}}})
	case r.URL.Path == "/freeBusy":
		var busy []any
		for _, id := range slices.Sorted(maps.Keys(s.events)) {
			e := s.events[id]
			busy = append(busy, map[string]any{"start": e["start"].(map[string]any)["dateTime"], "end": e["end"].(map[string]any)["dateTime"]})
		}
		answer(w, map[string]any{"calendars": map[string]any{Calendar: map[string]any{"busy": busy}}})
	case s.BusyOnly:
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Path == events && r.Method == http.MethodGet:
		items := []any{}
		for _, id := range slices.Sorted(maps.Keys(s.events)) {
			if s.events[id]["status"] != "cancelled" {
				items = append(items, s.events[id])
			}
		}
		answer(w, map[string]any{"items": items})
	case r.URL.Path == events && r.Method == http.MethodPost:
		var e map[string]any
		_ = json.NewDecoder(r.Body).Decode(&e)
		id, _ := e["id"].(string)
		if _, there := s.events[id]; there || strings.Trim(id, "0123456789abcdefghijklmnopqrstuv") != "" || len(id) < 5 {
			w.WriteHeader(http.StatusConflict)
			return
		}
		s.put(id, e)
		answer(w, e)
	case strings.HasPrefix(r.URL.Path, events+"/"):
		s.event(w, r, strings.TrimPrefix(r.URL.Path, events+"/"))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *Server) event(w http.ResponseWriter, r *http.Request, id string) {
	e, there := s.events[id]
	switch {
	case !there:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		answer(w, e)
	case r.Method == http.MethodDelete && e["status"] == "cancelled":
		w.WriteHeader(http.StatusGone)
	case r.Method == http.MethodDelete && r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != e["etag"]:
		w.WriteHeader(http.StatusPreconditionFailed)
	case r.Method == http.MethodDelete:
		e["status"] = "cancelled" // it is kept, and its id with it
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPatch:
		if match := r.Header.Get("If-Match"); match != "" && match != e["etag"] {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		var change map[string]any
		_ = json.NewDecoder(r.Body).Decode(&change)
		e = maps.Clone(e)
		maps.Copy(e, change)
		s.put(id, e)
		answer(w, e)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// token gives an access token, and another refresh token in place of the one that was used.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":%q}`, code)
	}
	switch {
	case r.FormValue("client_id") != ClientID || r.FormValue("client_secret") != ClientSecret:
		refuse("invalid_client")
		return
	case s.revoked || r.FormValue("refresh_token") != s.refresh:
		s.revoked, s.access = true, map[string]bool{} // used twice: it may be stolen
		refuse("invalid_grant")
		return
	}
	s.given++
	s.redeemed++
	access := fmt.Sprint("ya29.access-", s.given)
	s.refresh, s.access[access] = fmt.Sprint("1//refresh-", s.given), true
	answer(w, map[string]any{"access_token": access, "refresh_token": s.refresh, "expires_in": 3600, "token_type": "Bearer"})
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}
