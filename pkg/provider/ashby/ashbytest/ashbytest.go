// Package ashbytest is an Ashby for tests, written from the public documents of its assessments framework
// alone: it asks an assessment partner as they say, takes no answer that they do not allow, and is told how
// assessments go.
package ashbytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
)

// Server is the account of a customer there.
type Server struct {
	*httptest.Server
	// Partner is the partner's base address, and PartnerKey the one that it takes. Key is the
	// account's own API key.
	Partner, PartnerKey, Key string

	mu      sync.Mutex
	known   map[string]bool
	updates []Update
	answers []http.HandlerFunc
}

// Update is what it was told.
type Update struct {
	Assessment string
	Timestamp  float64
	// Status and the others are the values; nil for none.
	Status, ProfileURL, Result, Cancelled any
	ResultType                            string
	// Raw is the whole body, and Key the header Idempotency-Key.
	Raw, Key string
}

// Start starts an account.
func Start(partner, partnerKey, key string) *Server {
	s := &Server{Partner: partner, PartnerKey: partnerKey, Key: key, known: map[string]bool{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Behave has the next calls answered otherwise, one each.
func (s *Server) Behave(by ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, by...)
}

// Updates are what it was told and took, oldest first.
func (s *Server) Updates() []Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Update{}, s.updates...)
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"success":false,"errors":[%q],"errorInfo":{"code":%q,"requestId":"1"}}`, code, code)
}

// serve is assessment.update.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) > 0 {
		answer := s.answers[0]
		s.answers = s.answers[1:]
		answer(w, r)
		return
	}
	key, password, ok := r.BasicAuth()
	switch {
	case !ok:
		fail(w, http.StatusUnauthorized, "missing_api_key")
		return
	case key != s.Key || password != "":
		fail(w, http.StatusForbidden, "invalid_api_key")
		return
	case r.Method != http.MethodPost || r.URL.Path != "/assessment.update" || r.Header.Get("Content-Type") != "application/json":
		fail(w, http.StatusNotFound, "not_found")
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	if json.Unmarshal(raw, &body) != nil {
		fail(w, http.StatusBadRequest, "invalid_input")
		return
	}
	u, err := Read(body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_input")
		return
	}
	if !s.known[u.Assessment] {
		fail(w, http.StatusOK, "assessment_not_found")
		return
	}
	u.Raw, u.Key = string(raw), r.Header.Get("Idempotency-Key")
	s.updates = append(s.updates, u)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"success":true}`))
}

var uuids = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// types are what a value can be.
var types = map[string]func(any) bool{
	"numeric_score":            isA[float64],
	"numeric_duration_minutes": isA[float64],
	"url":                      isA[string],
	"string":                   isA[string],
	"boolean_success":          isA[bool],
}

func isA[T any](v any) bool { _, ok := v.(T); return ok }

// value reads a value with what people read beside it.
func value(of any) (v any, kind string, err error) {
	if of == nil {
		return nil, "", nil
	}
	m, _ := of.(map[string]any)
	identifier, _ := m["identifier"].(string)
	label, _ := m["label"].(string)
	kind, _ = m["type"].(string)
	if check := types[kind]; identifier == "" || label == "" || check == nil || !check(m["value"]) {
		return nil, kind, fmt.Errorf("is no value with identifier, label, type and value: %v", of)
	}
	return m["value"], kind, nil
}

// Read reads an update, as the documents have it.
func Read(body map[string]any) (Update, error) {
	var (
		u     Update
		wrong []error
		kind  string
	)
	u.Assessment, _ = body["assessment_id"].(string)
	u.Timestamp, _ = body["timestamp"].(float64)
	take := func(name string) any {
		v, k, err := value(body[name])
		kind = k
		wrong = append(wrong, err)
		return v
	}
	u.Status, u.Cancelled, u.Result = take("assessment_status"), take("cancelled_reason"), take("assessment_result")
	u.ResultType = kind
	u.ProfileURL = take("assessment_profile_url")
	if u.ProfileURL != nil && kind != "url" {
		wrong = append(wrong, errors.New("assessment_profile_url is not of type url"))
	}
	metadata, _ := body["metadata"].([]any)
	for _, one := range metadata {
		_, _, err := value(one)
		wrong = append(wrong, err)
	}
	switch {
	case !uuids.MatchString(u.Assessment) || u.Timestamp < 1e12:
		wrong = append(wrong, errors.New("has no assessment_id, or no timestamp in milliseconds"))
	case u.Status == nil && u.Cancelled == nil:
		wrong = append(wrong, errors.New("has neither assessment_status nor cancelled_reason"))
	case u.Result != nil && u.ProfileURL == nil:
		wrong = append(wrong, errors.New("has assessment_result without assessment_profile_url"))
	}
	return u, errors.Join(wrong...)
}

// Answer is what the partner answered.
type Answer struct {
	Status int
	Body   map[string]any
}

// Ask makes a request of the partner.
func (s *Server) Ask(call string, body any) (Answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return Answer{}, err
	}
	req, err := http.NewRequest(http.MethodPost, s.Partner+"/"+call, bytes.NewReader(text)) //nolint:noctx // of a test
	if err != nil {
		return Answer{}, err
	}
	req.SetBasicAuth(s.PartnerKey, "")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Status: resp.StatusCode}
	if err := json.Unmarshal(raw, &a.Body); err != nil {
		return a, fmt.Errorf("is no object: %s", raw)
	}
	return a, nil
}

// List is assessment.list: names by ids.
func (s *Server) List() (map[string]string, error) {
	a, err := s.Ask("assessment.list", map[string]any{})
	if err != nil {
		return nil, err
	}
	results, ok := a.Body["results"].([]any)
	if a.Status != http.StatusOK || a.Body["success"] != true || !ok {
		return nil, fmt.Errorf("is no success with results: %d %v", a.Status, a.Body)
	}
	all := map[string]string{}
	for _, one := range results {
		m, _ := one.(map[string]any)
		id, _ := m["assessment_type_id"].(string)
		name, _ := m["name"].(string)
		if _, described := m["description"].(string); !uuids.MatchString(id) || name == "" || !described {
			return nil, fmt.Errorf("is no assessment: %v", one)
		}
		all[id] = name
	}
	return all, nil
}

// Body is what assessment.start sends.
func Body(assessment, application, email string) map[string]any {
	return map[string]any{
		"assessment_type_id": assessment,
		"candidate": map[string]any{
			"ashby_id": "c-" + application, "first_name": "Kim", "last_name": "Lee", "email": email, "ashby_profile_url": "https://app.ashbyhq.com/candidates/c-" + application,
		},
		"application": map[string]any{"ashby_id": application, "status": "Active"},
		"job": map[string]any{
			"ashby_id": "j-1", "name": "Rigger", "req_id": "R1", "ashby_job_url": "https://app.ashbyhq.com/jobs/j-1", "hiringTeam": []any{map[string]any{"email": "r@example.com"}},
		},
	}
}

// Start is assessment.start: the assessment's id, with the update that came at once.
func (s *Server) Start(body map[string]any) (string, Update, error) {
	a, err := s.Ask("assessment.start", body)
	if err != nil {
		return "", Update{}, err
	}
	return s.started(a)
}

func (s *Server) started(a Answer) (string, Update, error) {
	results, _ := a.Body["results"].(map[string]any)
	id, _ := results["assessment_id"].(string)
	if a.Status != http.StatusOK || a.Body["success"] != true || !uuids.MatchString(id) {
		return "", Update{}, fmt.Errorf("is no success with assessment_id: %d %v", a.Status, a.Body)
	}
	s.mu.Lock()
	s.known[id] = true
	s.mu.Unlock()
	update, _ := results["update_request"].(map[string]any)
	u, err := Read(update)
	return id, u, err
}

// Cancel is assessment.cancel.
func (s *Server) Cancel(assessment string) (Update, error) {
	a, err := s.Ask("assessment.cancel", map[string]any{"assessment_id": assessment})
	if err != nil {
		return Update{}, err
	}
	_, u, err := s.started(a)
	return u, err
}
