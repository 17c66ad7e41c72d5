// Package xapitest is a learning record store on loopback, for tests of what it is told. It is written
// from the standard alone (Experience API 1.0.3, parts 2 and 3; what it takes of 2.0.0 is the same), and shares nothing
// with what it tests.
package xapitest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"visavis.dev/pkg/base/egress"
)

// Key is the key and the secret that the store takes.
const Key = "key-1:secret:with:colons"

const voided = "http://adlnet.gov/expapi/verbs/voided"

// Statement is one as it came.
type Statement map[string]any

// At is what is at a place in a statement, such as actor.account.name; nil for nothing.
func (s Statement) At(path string) any {
	var here any = map[string]any(s)
	for name := range strings.SplitSeq(path, ".") {
		m, ok := here.(map[string]any)
		if !ok {
			return nil
		}
		here = m[name]
	}
	return here
}

// Store is a learning record store.
type Store struct {
	*httptest.Server
	mu       sync.Mutex
	all      []Statement
	behaves  []int
	lost     int
	delayed  int
	late     []Statement
	refused  []string
	asked    int
	conflict int
}

// New starts a store.
func New(t testing.TB) *Store {
	t.Helper()
	s := &Store{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /xapi/about", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Experience-API-Version", "1.0.3")
		_ = json.NewEncoder(w).Encode(map[string]any{"version": []string{"1.0.3", "2.0.0"}})
	})
	mux.HandleFunc("GET /xapi/statements", s.get)
	mux.HandleFunc("PUT /xapi/statements", s.put)
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Roots trust the store.
func (s *Store) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// Guard reaches the store.
func (s *Store) Guard() *egress.Guard {
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: s.Roots()})
}

// Config is that of a connection to the store.
func (s *Store) Config() map[string]any {
	return map[string]any{"baseUrl": s.URL + "/xapi", "homePage": "https://school.example.com/people"}
}

// Behave has the next statements answered with these statuses, one each, and not kept.
func (s *Store) Behave(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = append(s.behaves, statuses...)
}

// Lose has the next statements kept, and the answers that say so not arrive.
func (s *Store) Lose(answers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = answers
}

// Delay has the next statements arrive at Arrive alone; whoever sent them hears of a gateway that waited.
func (s *Store) Delay(statements int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delayed = statements
}

// Arrive has those arrive that were delayed.
func (s *Store) Arrive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.late = append(s.all, s.late...), nil
}

// All are the statements that came, in their order.
func (s *Store) All() []Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// Standing are those that count: neither voided nor voiding.
func (s *Store) Standing() (standing []Statement) {
	all := s.All()
	gone := map[any]bool{}
	for _, each := range all {
		if each.At("verb.id") == voided {
			gone[each.At("object.id")] = true
		}
	}
	for _, each := range all {
		if each.At("verb.id") != voided && !gone[each["id"]] {
			standing = append(standing, each)
		}
	}
	return standing
}

// Refused says why statements were refused.
func (s *Store) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// Asked counts how often statements were sent.
func (s *Store) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Conflicts counts the statements whose id another one had.
func (s *Store) Conflicts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conflict
}

// admitted says whether a request may be (part 3, sections 1.4 and 3.3).
func (s *Store) admitted(w http.ResponseWriter, r *http.Request) bool {
	version := r.Header.Get("X-Experience-API-Version")
	w.Header().Set("X-Experience-API-Version", "1.0.3")
	user, password, _ := r.BasicAuth()
	switch {
	case user+":"+password != Key:
		w.WriteHeader(http.StatusUnauthorized)
		return false
	case version != "1.0.3" && version != "2.0.0":
		w.WriteHeader(http.StatusBadRequest)
		return false
	}
	return true
}

func (s *Store) get(w http.ResponseWriter, r *http.Request) {
	if !s.admitted(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.all {
		if each["id"] == r.URL.Query().Get("statementId") {
			_ = json.NewEncoder(w).Encode(each)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

// put keeps a statement (part 3, section 2.1.1). One that is there stays as it is.
func (s *Store) put(w http.ResponseWriter, r *http.Request) {
	if !s.admitted(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if len(s.behaves) > 0 {
		status := s.behaves[0]
		s.behaves = s.behaves[1:]
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "90")
		}
		w.WriteHeader(status)
		return
	}
	var st Statement
	if err == nil {
		err = json.Unmarshal(body, &st)
	}
	if err == nil {
		err = check(st)
	}
	if err == nil && (st["id"] != r.URL.Query().Get("statementId") || r.Header.Get("Content-Type") != "application/json") {
		err = fmt.Errorf("it is not the statement of the address")
	}
	if err != nil {
		s.refused = append(s.refused, err.Error())
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	there := false
	target := st["verb"].(map[string]any)["id"] != voided
	for _, had := range s.all {
		if had["id"] == st["id"] {
			if there = true; !reflect.DeepEqual(had, st) {
				s.conflict++
				w.WriteHeader(http.StatusConflict)
				return
			}
		}
		target = target || had["id"] == st.At("object.id")
	}
	if !target { // "the LRS SHOULD return a descriptive error if the target Statement cannot be found" (part 2, section 2.3.2)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if s.delayed > 0 {
		s.delayed--
		s.late = append(s.late, st)
		w.WriteHeader(http.StatusGatewayTimeout)
		return
	}
	if !there {
		s.all = append(s.all, st)
	}
	if s.lost > 0 {
		s.lost--
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

var (
	aUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	atag  = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// known are the properties of objects by where those are (part 2, sections 2.4 and 4).
var known = map[string][]string{
	"":        {"id", "actor", "verb", "object", "result", "context", "timestamp", "version", "attachments"},
	"actor":   {"objectType", "name", "mbox", "mbox_sha1sum", "openid", "account"},
	"account": {"homePage", "name"},
	"verb":    {"id", "display"}, "object": {"objectType", "id", "definition"}, "definition": {"name", "description", "type", "moreInfo", "extensions"},
	"result": {"score", "success", "completion", "response", "duration", "extensions"}, "score": {"scaled", "raw", "min", "max"},
	"context":           {"registration", "instructor", "team", "contextActivities", "revision", "platform", "language", "statement", "extensions"},
	"contextActivities": {"parent", "grouping", "category", "other"},
}

// check says what of a statement is not as the standard has it.
func check(st Statement) error {
	if err := properties("", st); err != nil {
		return err
	}
	for _, path := range []string{"actor", "verb", "object", "result", "context", "actor.account", "object.definition", "result.score", "context.contextActivities"} {
		name := path[strings.LastIndex(path, ".")+1:]
		if m, ok := st.At(path).(map[string]any); ok {
			if err := properties(name, m); err != nil {
				return err
			}
		}
	}
	if text, _ := st["id"].(string); !aUUID.MatchString(text) {
		return fmt.Errorf("id %q", text)
	}
	if err := agent(st); err != nil {
		return err
	}
	if !iri(st.At("verb.id")) || !texts(st.At("verb.display")) {
		return fmt.Errorf("verb %v", st["verb"])
	}
	switch kind := st.At("object.objectType"); {
	case kind == "StatementRef":
		if text, _ := st.At("object.id").(string); !aUUID.MatchString(text) || st.At("object.definition") != nil {
			return fmt.Errorf("reference %v", st["object"])
		}
	case kind != "Activity" || st.At("verb.id") == voided:
		return fmt.Errorf("object %v", st["object"])
	default:
		if err := activity(st["object"]); err != nil {
			return err
		}
	}
	if st["context"] != nil {
		if text, ok := st.At("context.registration").(string); ok && !aUUID.MatchString(text) {
			return fmt.Errorf("registration %q", text)
		}
		if text, ok := st.At("context.language").(string); ok && !atag.MatchString(text) {
			return fmt.Errorf("language %q", text)
		}
		groups, _ := st.At("context.contextActivities").(map[string]any)
		for _, each := range groups {
			list, ok := each.([]any)
			if !ok {
				return fmt.Errorf("activities %v", each)
			}
			for _, one := range list {
				if err := activity(one); err != nil {
					return err
				}
			}
		}
	}
	if at, ok := st["timestamp"].(string); ok {
		if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
			return err
		}
	}
	return score(st)
}

func properties(where string, m map[string]any) error {
	for name, value := range m {
		if value == nil || !slices.Contains(known[where], name) {
			return fmt.Errorf("%s.%s is %v", where, name, value)
		}
	}
	return nil
}

// agent checks that somebody has exactly one name (part 2, section 2.4.2.1).
func agent(st Statement) error {
	mbox, _ := st.At("actor.mbox").(string)
	name, _ := st.At("actor.account.name").(string)
	isAccount := name != "" && iri(st.At("actor.account.homePage"))
	if st.At("actor.objectType") != "Agent" || strings.HasPrefix(mbox, "mailto:") == isAccount || mbox != "" && st.At("actor.account") != nil {
		return fmt.Errorf("actor %v", st["actor"])
	}
	return nil
}

func activity(v any) error {
	m, _ := v.(map[string]any)
	s := Statement(m)
	if s["objectType"] != "Activity" || !iri(s["id"]) {
		return fmt.Errorf("activity %v", v)
	}
	if d, ok := s["definition"].(map[string]any); ok {
		if err := properties("definition", d); err != nil {
			return err
		}
		if d["name"] != nil && !texts(d["name"]) || d["type"] != nil && !iri(d["type"]) {
			return fmt.Errorf("definition %v", d)
		}
	}
	return nil
}

func score(st Statement) error {
	if st.At("result.score") == nil {
		return nil
	}
	number := func(name string) float64 { f, _ := st.At("result.score." + name).(float64); return f }
	if scaled := number("scaled"); scaled < -1 || scaled > 1 || number("min") >= number("max") || number("raw") < number("min") || number("raw") > number("max") {
		return fmt.Errorf("score %v", st.At("result.score"))
	}
	return nil
}

func iri(v any) bool {
	text, _ := v.(string)
	u, err := url.Parse(text)
	return err == nil && u.IsAbs() && !strings.ContainsAny(text, " <>\"")
}

// texts says whether something is a map of texts by their languages (part 2, section 4.2).
func texts(v any) bool {
	m, ok := v.(map[string]any)
	for tag, text := range m {
		_, isText := text.(string)
		ok = ok && isText && atag.MatchString(tag)
	}
	return ok && len(m) > 0
}
