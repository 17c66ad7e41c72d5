// Package modeltest is a language model's service for tests and for programs
// that try the product out: it answers /chat/completions and /responses on loopback over TLS,
// well or in any of the bad ways that services have.
package modeltest

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/model"
)

// Request is one that was received.
type Request struct {
	// Path and Authorization are as sent.
	Path, Authorization string
	Model               string          `json:"model"`
	Messages            []model.Message `json:"messages"`
	// Input are the messages of the responses protocol.
	Input  []model.Message `json:"input"`
	Stream bool            `json:"stream"`
	// Body is all of it.
	Body map[string]any
}

// Behaviour answers a request.
type Behaviour func(w http.ResponseWriter, r *http.Request, asked Request)

// Server is the service. It is safe for concurrent use.
type Server struct {
	server *httptest.Server

	mu        sync.Mutex
	behaviour Behaviour
	secrets   []string
	requests  []Request
}

// Start begins to serve, and to answer with a few words. Close ends it.
func Start() *Server {
	s := &Server{behaviour: Stream("Hello", " there", ".")}
	s.server = httptest.NewTLSServer(http.HandlerFunc(s.answer))
	return s
}

// StartPlain is Start without TLS, as a model's server beside the product often is.
func StartPlain() *Server {
	s := &Server{behaviour: Stream("Hello", " there", ".")}
	s.server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

// Close ends the service, and the answers under way.
func (s *Server) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// URL is the base address, as a connection's baseUrl.
func (s *Server) URL() string { return s.server.URL + "/v1" }

// Roots are the authorities that vouch for the service.
func (s *Server) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.server.Certificate())
	return roots
}

// CA is the authority, in PEM, that a process is to trust.
func (s *Server) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
}

// Guard is a guard that may reach the service.
func (s *Server) Guard() *egress.Guard {
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: s.Roots()})
}

// Behave sets how requests are answered from now on.
func (s *Server) Behave(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviour = b
}

// Accept sets the secrets that are taken; without any, all are.
func (s *Server) Accept(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = secrets
}

// Requests are those received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	asked := Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")}
	raw := http.MaxBytesReader(w, r.Body, 10<<20)
	if err := json.NewDecoder(raw).Decode(&asked.Body); err == nil {
		text, _ := json.Marshal(asked.Body)
		_ = json.Unmarshal(text, &asked)
	}
	s.mu.Lock()
	s.requests = append(s.requests, asked)
	behave, secrets := s.behaviour, s.secrets
	s.mu.Unlock()
	switch {
	case len(secrets) > 0 && !slices.ContainsFunc(secrets, func(known string) bool { return asked.Authorization == "Bearer "+known }):
		Status(http.StatusUnauthorized, nil)(w, r, asked)
	case r.URL.Path != "/v1/chat/completions" && r.URL.Path != "/v1/responses":
		Status(http.StatusNotFound, nil)(w, r, asked)
	default:
		behave(w, r, asked)
	}
}
