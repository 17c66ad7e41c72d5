package egress_test

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"visavis.dev/pkg/base/egress"
)

// proxyAddress is where the environment's proxy would be: the discard port, where
// nothing listens.
const proxyAddress = "http://127.0.0.1:9"

// TestMain points the environment's proxy at nothing before anything can have
// read it (net/http reads it once), so that every test here fails if it is used.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		_ = os.Setenv(name, proxyAddress)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		_ = os.Unsetenv(name)
	}
	log.SetOutput(io.Discard) // net/http logs what servers send unasked
	goleak.VerifyTestMain(m)
}

// resolver answers from a function of how many look-ups came before, and counts.
type resolver struct {
	answer  func(earlier int) ([]netip.Addr, error)
	lookups atomic.Int32
}

func (r *resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return r.answer(int(r.lookups.Add(1)) - 1)
}

// resolvesTo answers every look-up with the same addresses.
func resolvesTo(addrs ...string) *resolver {
	parsed := make([]netip.Addr, len(addrs))
	for i, addr := range addrs {
		parsed[i] = netip.MustParseAddr(addr)
	}
	return &resolver{answer: func(int) ([]netip.Addr, error) { return parsed, nil }}
}

// server is a TLS server on 127.0.0.1 whose certificate is for example.com and
// 127.0.0.1. It counts the connections it accepts.
type server struct {
	*httptest.Server
	connections atomic.Int32
}

func serve(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{Server: httptest.NewUnstartedServer(handler)}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// named is the server's URL under the name example.com.
func (s *server) named() string {
	return strings.Replace(s.URL, "127.0.0.1", "example.com", 1)
}

func (s *server) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// loopback is what a test's operator allows.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// guardFor makes a guard that may reach the server and finds it under any name.
func guardFor(t *testing.T, s *server, change ...func(*egress.Options)) *egress.Guard {
	t.Helper()
	options := egress.Options{
		Allow:    loopback,
		RootCAs:  s.roots(),
		Timeout:  5 * time.Second,
		Resolver: resolvesTo("127.0.0.1"),
	}
	for _, c := range change {
		c(&options)
	}
	g := egress.New(options)
	t.Cleanup(g.Client().CloseIdleConnections)
	return g
}
