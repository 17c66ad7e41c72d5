// Package embeddingtest is a service of embeddings with an OpenAI-compatible address, for
// tests. What texts mean it is told: texts that share a meaning have vectors near each other.
package embeddingtest

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Dimensions is the size of the vectors.
const Dimensions = 64

// Server is the service.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	meanings map[string][]string
	asked    [][]string
	keys     []string
	answer   http.HandlerFunc
}

// Serve starts a service over TLS.
func Serve(t testing.TB) *Server {
	t.Helper()
	s := &Server{meanings: map[string][]string{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Means says which words stand for a meaning: a text with one of them means it.
func (s *Server) Means(meaning string, words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meanings[meaning] = words
}

// Answer has every further request answered so; nil for vectors.
func (s *Server) Answer(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Asked are the texts of each request, and Keys what the requests were sent with.
func (s *Server) Asked() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Keys are the Authorization headers of the requests.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || !strings.HasSuffix(r.URL.Path, "/embeddings") {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked, s.keys = append(s.asked, ask.Input), append(s.keys, r.Header.Get("Authorization"))
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	type datum struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	data := make([]datum, len(ask.Input))
	for i, text := range ask.Input {
		data[len(data)-1-i] = datum{"embedding", i, s.vector(text)} // in no order that may be relied on
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": ask.Model})
}

// vector is that of a text: a direction all texts share, a direction for each meaning, and
// some of its own.
func (s *Server) vector(text string) []float32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := direction("")
	add := func(name string, weight float32) {
		for i, n := range direction(name) {
			sum[i] += weight * n
		}
	}
	add("text "+text, 0.5)
	for meaning, words := range s.meanings {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(text), word) }) {
			add("meaning "+meaning, 2)
		}
	}
	return sum
}

// direction is the same for a name every time, and hardly alike for two.
func direction(name string) []float32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, Dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}
