// Package hubspottest is a HubSpot for tests, as its documents say that contacts behave: a batch
// is taken whole or not at all, and an address is one contact's.
package hubspottest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"

	"visavis.dev/pkg/base/egress"
)

const contacts = "/crm/objects/2026-03/contacts"

// Server is an account.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	next     int
	known    map[string]map[string]string
	behaves  []http.HandlerFunc
	requests []string
	// Token is the one that it takes.
	Token string
}

// Start starts an account without contacts.
func Start() *Server {
	s := &Server{known: map[string]map[string]string{}, next: 100, Token: "pat-good"}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Guard reaches the account.
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

// Put enters a contact that was there before.
func (s *Server) Put(email string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := s.upsert(map[string]string{"email": email})
	return id
}

// Remove takes a contact away.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}

// Contacts are all contacts by their ids.
func (s *Server) Contacts() map[string]map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]map[string]string{}
	for id, c := range s.known {
		all[id] = maps.Clone(c)
	}
	return all
}

// Requests are the methods and paths of what was asked.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+strings.TrimPrefix(r.URL.Path, contacts))
	if len(s.behaves) > 0 {
		next := s.behaves[0]
		s.behaves = s.behaves[1:]
		if next != nil {
			next(w, r)
			return
		}
	}
	if r.Header.Get("Authorization") != "Bearer "+s.Token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, contacts)
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case path == "" && r.Method == http.MethodGet:
		_, _ = fmt.Fprint(w, `{"results":[]}`)
	case path == "/batch/upsert" && r.Method == http.MethodPost:
		s.batch(w, r)
	case path == "/batch/read" && r.Method == http.MethodPost:
		s.read(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

type input struct {
	ID         string            `json:"id"`
	IDProperty string            `json:"idProperty"`
	Properties map[string]string `json:"properties"`
}

func (s *Server) batch(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Inputs []input `json:"inputs"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Inputs) == 0 || len(body.Inputs) > 100 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	seen := map[string]bool{}
	for _, in := range body.Inputs {
		if in.IDProperty != "email" || seen[in.ID] || !valid(in.Properties) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		seen[in.ID] = true
	}
	var results []map[string]any
	for _, in := range body.Inputs {
		id, made := s.upsert(in.Properties)
		results = append(results, map[string]any{"id": id, "new": made, "properties": s.known[id]})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "COMPLETE", "results": results})
}

// read answers those contacts that are there; 207 where some are not.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Inputs []input `json:"inputs"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Inputs) == 0 || len(body.Inputs) > 100 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	results, missing := []map[string]any{}, []string{}
	for _, in := range body.Inputs {
		if c, ok := s.known[in.ID]; ok {
			results = append(results, map[string]any{"id": in.ID, "properties": map[string]string{"email": c["email"]}})
		} else {
			missing = append(missing, in.ID)
		}
	}
	answer := map[string]any{"status": "COMPLETE", "results": results}
	if len(missing) > 0 {
		w.WriteHeader(http.StatusMultiStatus)
		answer["numErrors"] = 1
		answer["errors"] = []any{map[string]any{
			"status": "error", "category": "OBJECT_NOT_FOUND", "message": "Could not get some CONTACT objects, they may be deleted or not exist.",
			"context": map[string]any{"ids": missing},
		}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// valid says whether the account takes properties: it has no others than these.
func valid(properties map[string]string) bool {
	for name := range properties {
		switch name {
		case "email", "firstname", "lastname", "phone", "company", "jobtitle", "visavis_band":
		default:
			return false
		}
	}
	return !strings.Contains(properties["email"], "invalid")
}

func (s *Server) upsert(properties map[string]string) (id string, made bool) {
	for known, c := range s.known {
		if c["email"] == properties["email"] {
			maps.Copy(c, properties)
			return known, false
		}
	}
	s.next++
	id = fmt.Sprint(s.next)
	s.known[id] = maps.Clone(properties)
	return id, true
}
