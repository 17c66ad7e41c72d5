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
	"slices"
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
	idle     []string
	made     []string
	merged   map[string]bool
	// Token is the one that it takes, and Account who it is; 0 for one that it does not tell.
	Token   string
	Account int64
	// Owners are the mail addresses of those who can own contacts, by their ids; nil where the token may not read them.
	Owners map[string]string
	// NoOwner is an owner who is told of, and not taken.
	NoOwner string
}

// Start starts an account without contacts.
func Start() *Server {
	s := &Server{known: map[string]map[string]string{}, merged: map[string]bool{}, next: 100, Token: "pat-good", Account: 4711}
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

// Calm takes back what Behave said.
func (s *Server) Calm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = nil
}

// Put enters a contact that was there before.
func (s *Server) Put(email string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := s.upsert(map[string]string{"email": email})
	return id
}

// Edit has people of the account change a contact; an empty value is removed.
func (s *Server) Edit(id string, properties map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, value := range properties {
		if s.known[id][name] = value; value == "" {
			delete(s.known[id], name)
		}
	}
}

// Restore brings a contact back that was taken away.
func (s *Server) Restore(id string, properties map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[id] = maps.Clone(properties)
}

// Merge merges a contact into another one, whose further address its address is.
func (s *Server) Merge(from, into string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[into][also] = s.known[from]["email"]
	s.merged[from] = true
	delete(s.known, from)
}

// Idle are writes by which nothing became different.
func (s *Server) Idle() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.idle...)
}

// Made are the addresses for which contacts were made, once for each time.
func (s *Server) Made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.made...)
}

// Meanwhile is a behavior: people change a contact, and the request is done after that.
func (s *Server) Meanwhile(id string, properties map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.known[id] != nil {
			maps.Copy(s.known[id], properties)
		}
		s.answer(w, r)
	}
}

// Lose is a behavior: the request is done, and its answer does not arrive.
func (s *Server) Lose(_ http.ResponseWriter, r *http.Request) {
	s.answer(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
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
	s.answer(w, r)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.Token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/account-info/2026-03/details" {
		if s.Account == 0 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"portalId": %d}`, s.Account)
		return
	}
	if r.URL.Path == "/crm/owners/2026-03" {
		s.owners(w, r)
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
	case path == "/batch/update" && r.Method == http.MethodPost:
		s.update(w, r)
	case path == "/batch/read" && r.Method == http.MethodPost:
		s.read(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// owners answers one owner by page.
func (s *Server) owners(w http.ResponseWriter, r *http.Request) {
	if s.Owners == nil {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	all := []map[string]any{{"id": "9", "type": "QUEUE"}}
	for _, id := range slices.Sorted(maps.Keys(s.Owners)) {
		all = append(all, map[string]any{"id": id, "type": "PERSON", "email": s.Owners[id], "archived": false})
	}
	at := slices.IndexFunc(all, func(o map[string]any) bool { return o["id"] == r.URL.Query().Get("after") }) + 1
	answer := map[string]any{"results": all[at : at+1]}
	if at+1 < len(all) {
		answer["paging"] = map[string]any{"next": map[string]any{"after": all[at]["id"]}}
	}
	_ = json.NewEncoder(w).Encode(answer)
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
		if in.IDProperty != "email" || seen[in.ID] || !s.valid(in.Properties) {
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

// update writes those contacts that are there.
func (s *Server) update(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Inputs []input `json:"inputs"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Inputs) == 0 || len(body.Inputs) > 100 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, in := range body.Inputs {
		if in.IDProperty != "" || !s.valid(in.Properties) || len(in.Properties) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	results, missing := []map[string]any{}, []string{}
	for _, in := range body.Inputs {
		if s.known[in.ID] == nil {
			missing = append(missing, in.ID)
			continue
		}
		s.write(in.ID, in.Properties)
		results = append(results, map[string]any{"id": in.ID, "properties": s.known[in.ID]})
	}
	answer(w, results, missing)
}

// also has the further addresses of a contact.
const also = "hs_additional_emails"

// find is a contact by its id, or by one of its addresses.
func (s *Server) find(in input) (string, map[string]string) {
	if in.IDProperty == "" {
		return in.ID, s.known[in.ID]
	}
	for known, c := range s.known {
		if strings.EqualFold(c["email"], in.ID) || strings.EqualFold(c[also], in.ID) {
			return known, c
		}
	}
	return "", nil
}

// read answers those contacts that are there; 207 where some are not.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Inputs     []input  `json:"inputs"`
		IDProperty string   `json:"idProperty"`
		Properties []string `json:"properties"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Inputs) == 0 || len(body.Inputs) > 100 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	results, missing := []map[string]any{}, []string{}
	for _, in := range body.Inputs {
		in.IDProperty = body.IDProperty
		id, c := s.find(in)
		switch {
		case s.merged[in.ID]:
			results = append(results, map[string]any{"id": "merged", "properties": map[string]string{"email": "somebody@else.example", "firstname": "Somebody Else"}})
			continue
		case c == nil:
			missing = append(missing, in.ID)
			continue
		}
		told := map[string]*string{}
		for _, name := range body.Properties {
			told[name] = nil
			if value, ok := c[name]; ok {
				told[name] = &value
			}
		}
		results = append(results, map[string]any{"id": id, "properties": told})
	}
	answer(w, results, missing)
}

func answer(w http.ResponseWriter, results []map[string]any, missing []string) {
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

// write changes a contact.
func (s *Server) write(id string, properties map[string]string) {
	before := maps.Clone(s.known[id])
	for name, value := range properties {
		if s.known[id][name] = value; value == "" {
			delete(s.known[id], name)
		}
	}
	if asks := len(properties) == 1 && properties["email"] != ""; !asks && maps.Equal(before, s.known[id]) { // by the address alone it is asked whether that is taken
		s.idle = append(s.idle, id)
	}
}

// valid says whether the account takes properties: it has no others than these.
func (s *Server) valid(properties map[string]string) bool {
	for name, value := range properties {
		switch name {
		case "hubspot_owner_id":
			if s.Owners[value] == "" || value == s.NoOwner {
				return false
			}
		case "email", "firstname", "lastname", "phone", "company", "jobtitle", "visavis_band", "hs_lead_status":
		default:
			return false
		}
	}
	return !strings.Contains(properties["email"], "invalid")
}

func (s *Server) upsert(properties map[string]string) (id string, made bool) {
	if known, c := s.find(input{ID: properties["email"], IDProperty: "email"}); c != nil {
		s.write(known, properties)
		return known, false
	}
	s.next++
	id = fmt.Sprint(s.next)
	s.known[id] = maps.Clone(properties)
	s.made = append(s.made, properties["email"])
	return id, true
}
