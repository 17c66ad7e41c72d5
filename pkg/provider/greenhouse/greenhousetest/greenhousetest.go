// Package greenhousetest is a Greenhouse for tests, written from the public documents of its Assessment API
// alone: it asks an assessment partner as they say, takes no answer that they do not allow, and is told of
// complete tests.
package greenhousetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

// Server is the account of a customer there.
type Server struct {
	*httptest.Server
	// Partner is where the partner's endpoints are, and Key the one that the customer gave for them.
	Partner, Key string

	mu      sync.Mutex
	sent    int
	patched []string
	answers []int
}

// Start starts an account.
func Start(partner, key string) *Server {
	s := &Server{Partner: partner, Key: key}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.patch))
	return s
}

// patch is "PATCH - Mark Test as Completed".
func (s *Server) patch(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, password, ok := r.BasicAuth()
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusOK) // its front page
		return
	case len(s.answers) > 0:
		w.WriteHeader(s.answers[0])
		s.answers = s.answers[1:]
		return
	case !ok || key != s.Key || password != "":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.Method != http.MethodPatch || len(body) > 0 || !strings.HasPrefix(r.URL.Path, "/integrations/testing_partners/take_home_tests/"):
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.patched = append(s.patched, r.URL.Path)
}

// Answer has the next calls answered with statuses, one each.
func (s *Server) Answer(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, statuses...)
}

// Patched are the paths of the tests that it was told are complete.
func (s *Server) Patched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.patched...)
}

// StatusError is an answer that is none of a success.
type StatusError struct {
	Status int
	Body   string
	Header http.Header
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Body) }

// Ask makes a request of the partner.
func (s *Server) Ask(method, path string, body any) ([]byte, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, s.Partner+"/"+path, sent) //nolint:noctx // of a test
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(s.Key, "")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode > 299) {
		err = &StatusError{resp.StatusCode, string(answer), resp.Header}
	}
	return answer, err
}

// ListTests is "List Tests": names by ids.
func (s *Server) ListTests() (map[string]string, error) {
	raw, err := s.Ask(http.MethodGet, "list_tests", nil)
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil || list == nil {
		return nil, fmt.Errorf("is no list of tests: %s", raw)
	}
	tests := map[string]string{}
	for _, one := range list {
		id, name := text(one, "partner_test_id"), text(one, "partner_test_name")
		if id == "" || name == "" || len(one) != 2 {
			return nil, fmt.Errorf("is no test: %v", one)
		}
		tests[id] = name
	}
	return tests, nil
}

func text(of map[string]any, key string) string {
	value, _ := of[key].(string)
	return value
}

// Candidate is somebody with an application there.
type Candidate struct {
	First, Last, Email string
	Application        int
}

// Body is what "Send Test" sends for a candidate; each time another test of the account's own.
func (s *Server) Body(test string, c Candidate) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	return map[string]any{
		"partner_test_id": test,
		"candidate": map[string]any{
			"first_name": c.First, "last_name": c.Last, "preferred_name": nil, "resume_url": "https://example.com/resume", "phone_number": nil, "email": c.Email,
			"greenhouse_profile_url": fmt.Sprintf("https://app.greenhouse.io/people/%d?application_id=%d", 1000+c.Application, c.Application),
		},
		"sent_by": "recruiter@example.com",
		"url":     fmt.Sprintf("%s/integrations/testing_partners/take_home_tests/%d", s.URL, s.sent),
	}
}

// SendTest is "Send Test": the id of the instance.
func (s *Server) SendTest(body map[string]any) (string, error) {
	raw, err := s.Ask(http.MethodPost, "send_test", body)
	if err != nil {
		return "", err
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil || text(answer, "partner_interview_id") == "" || len(answer) != 1 {
		return "", fmt.Errorf("is no object with partner_interview_id alone: %s", raw)
	}
	return text(answer, "partner_interview_id"), nil
}

// Status is what "Test Status" answers.
type Status struct {
	Status, ProfileURL string
	Score              *float64
	Metadata           map[string]any
}

// TestStatus is "Test Status".
func (s *Server) TestStatus(instance string) (Status, error) {
	raw, err := s.Ask(http.MethodGet, "test_status?"+url.Values{"partner_interview_id": {instance}}.Encode(), nil)
	if err != nil {
		return Status{}, err
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Status{}, err
	}
	status := Status{Status: text(answer, "partner_status"), ProfileURL: text(answer, "partner_profile_url")}
	if status.Status == "" || status.Status == "complete" && status.ProfileURL == "" {
		return status, fmt.Errorf("has no status, or is complete without a profile: %s", raw)
	}
	for key, value := range answer {
		switch key {
		case "partner_status", "partner_profile_url":
		case "partner_score":
			if score, ok := value.(float64); ok {
				status.Score = &score
			} else if value != nil {
				return status, fmt.Errorf("has a score that is no number: %s", raw)
			}
		case "metadata":
			status.Metadata, _ = value.(map[string]any)
		default:
			return status, fmt.Errorf("has another key than the four: %s", key)
		}
	}
	for key, value := range status.Metadata {
		switch value.(type) {
		case string, float64, bool, nil:
		default:
			return status, fmt.Errorf("has metadata that is no primitive: %s", key)
		}
	}
	return status, nil
}
