// Package transcriptiontest is a service with an OpenAI-compatible address that
// transcribes, for tests: it knows what it will be told.
package transcriptiontest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Recording is one that the service was sent.
type Recording struct {
	Authorization, Model, Language string
	// WAV is the file.
	WAV []byte
}

// Server is the service.
type Server struct {
	*httptest.Server

	mu   sync.Mutex
	got  []Recording
	next []Answer
}

// Answer is what becomes of a request.
type Answer struct {
	Text string
	// Status is one of an error; 0 for success. RetryAfter goes with it.
	Status     int
	RetryAfter string
	// Body replaces what is answered.
	Body string
	// After is how long it takes.
	After time.Duration
	// Until holds the answer back until it is closed; nil for at once.
	Until <-chan struct{}
}

// Serve starts a service over TLS that answers as it is told, and then with nothing heard.
func Serve(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Next says what becomes of the next requests.
func (s *Server) Next(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, answers...)
}

// Got are the recordings that came.
func (s *Server) Got() []Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recording(nil), s.got...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil || r.URL.Path != "/v1/audio/transcriptions" || r.Method != http.MethodPost {
		http.Error(w, `{"error": {"message": "bad request"}}`, http.StatusBadRequest)
		return
	}
	wav, _ := io.ReadAll(file)
	s.mu.Lock()
	s.got = append(s.got, Recording{r.Header.Get("Authorization"), r.FormValue("model"), r.FormValue("language"), wav})
	var a Answer
	if len(s.next) > 0 {
		a, s.next = s.next[0], s.next[1:]
	}
	s.mu.Unlock()
	select {
	case <-time.After(a.After):
	case <-r.Context().Done():
		return
	}
	if a.Until != nil {
		select {
		case <-a.Until:
		case <-r.Context().Done():
			return
		}
	}
	s.answer(w, a)
}

func (s *Server) answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	switch {
	case a.Status != 0:
		w.WriteHeader(a.Status)
	case a.Body != "":
		_, _ = io.WriteString(w, a.Body)
	default:
		_ = json.NewEncoder(w).Encode(map[string]string{"text": a.Text})
	}
}
