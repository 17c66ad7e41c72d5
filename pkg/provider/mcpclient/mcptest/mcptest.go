// Package mcptest is a server of the Model Context Protocol for tests, by the protocol's own
// library, over TLS.
package mcptest

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"visavis.dev/pkg/base/egress"
)

// Server is a server with tools.
type Server struct {
	*httptest.Server
	// MCP is where tools are added.
	MCP *mcp.Server

	mu       sync.Mutex
	accepts  string
	behaves  http.HandlerFunc
	requests []*http.Request
	calls    []Call
}

// Call is a use of a tool.
type Call struct {
	Name      string
	Arguments map[string]any
	Meta      map[string]any
}

// Start starts a server without tools. A stateless one speaks the newest version of the
// protocol; another keeps sessions, as older ones do, and streams its answers. Tools are listed
// by pages of 40.
func Start(stateless bool) *Server {
	s := &Server{MCP: mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, &mcp.ServerOptions{
		PageSize: 40, Logger: slog.New(slog.DiscardHandler),
	})}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.MCP }, &mcp.StreamableHTTPOptions{
		Stateless: stateless, JSONResponse: stateless, PropagateRequestCancellation: true, Logger: slog.New(slog.DiscardHandler),
	})
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		accepts, behaves := s.accepts, s.behaves
		s.mu.Unlock()
		switch {
		case accepts != "" && r.Header.Get("Authorization") != "Bearer "+accepts:
			w.WriteHeader(http.StatusUnauthorized)
		case behaves != nil:
			behaves(w, r)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	return s
}

// Accept has the server take a secret alone.
func (s *Server) Accept(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepts = secret
}

// Behave has the server answer otherwise; nil as before.
func (s *Server) Behave(by http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = by
}

// Requests are those that came.
func (s *Server) Requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.requests...)
}

// Calls are the uses of tools.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Add adds a tool that answers a text.
func (s *Server) Add(name, description, schema string, answer func(context.Context, Call) *mcp.CallToolResult) {
	s.MCP.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			call := Call{Name: name, Meta: r.Params.Meta}
			if err := json.Unmarshal(r.Params.Arguments, &call.Arguments); err != nil {
				return nil, err
			}
			s.mu.Lock()
			s.calls = append(s.calls, call)
			s.mu.Unlock()
			return answer(ctx, call), nil
		})
}

// Says is a result that is a text.
func Says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// Roots are the authorities that vouch for the server.
func (s *Server) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots
}

// Guard reaches the server.
func (s *Server) Guard() *egress.Guard {
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: s.Roots()})
}
