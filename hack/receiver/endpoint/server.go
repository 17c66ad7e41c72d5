// Package endpoint is a webhook receiver such as a customer would write from
// the specification alone: it listens with TLS, verifies what it is sent, and
// remembers it. Every path is an endpoint of its own that answers well or, when
// told to, as badly as the public internet does. It imports nothing of this
// module, so that what it verifies a stranger can verify too.
package endpoint

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

const defaultKeep = 100_000

// Options say where a server listens and what it remembers. The zero value
// will do for a test.
type Options struct {
	// Addr is the host:port of the listener with the good certificate; empty
	// is a free port of 127.0.0.1. The others take free ports of its host.
	Addr string
	// Names are what the good certificate is for besides localhost, 127.0.0.1
	// and ::1.
	Names []string
	// Default is how paths behave that were never Set.
	Default Behaviour
	// Keep is how many requests of each path are kept, the latest ones; 0 is
	// 100,000.
	Keep int
	// CountOnly keeps no requests but only counts, of each path and of each
	// event id. It reads no more of a body than the event's id and type.
	CountOnly bool
	// OnRequest is called for each request that was not refused, before it is
	// answered and from many goroutines at a time. With CountOnly the
	// request's Body is lent for the call only.
	OnRequest func(Request)
}

// Server listens until Close. Its methods may be called at any time.
type Server struct {
	options Options
	ca      *authority
	http    *http.Server
	closing <-chan struct{}
	cancel  context.CancelFunc

	// The host:port of each listener.
	good, wrong, expired, untrusted string

	hooks     sync.Map // path → *hook
	listening sync.WaitGroup
	// conns counts connections, hijacked ones too, so that Close can wait.
	conns sync.WaitGroup
}

// Start listens with a certificate made on the fly, by a CA made on the fly.
func Start(o Options) (*Server, error) {
	o.Addr = cmp.Or(o.Addr, "127.0.0.1:0")
	o.Keep = cmp.Or(o.Keep, defaultKeep)
	ca, err := newAuthority("Receiver CA")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{options: o, ca: ca, closing: ctx.Done(), cancel: cancel}
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState:   s.track,
		// Failed handshakes are what half of the listeners are for.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	if err := s.listenAll(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) listenAll() error {
	host, _, err := net.SplitHostPort(s.options.Addr)
	if err != nil {
		return err
	}
	stranger, err := newAuthority("Unknown CA")
	if err != nil {
		return err
	}
	var (
		free  = net.JoinHostPort(host, "0")
		names = append([]string{"localhost", "127.0.0.1", "::1"}, s.options.Names...)
		now   = time.Now()
		later = now.Add(validity)
	)
	for _, l := range []struct {
		host  *string
		addr  string
		ca    *authority
		names []string
		until time.Time
	}{
		{&s.good, s.options.Addr, s.ca, names, later},
		{&s.wrong, free, s.ca, []string{"elsewhere.invalid"}, later},
		{&s.expired, free, s.ca, names, now.Add(-time.Hour)},
		{&s.untrusted, free, stranger, names, later},
	} {
		certificate, err := l.ca.issue(l.names, l.until)
		if err != nil {
			return err
		}
		if *l.host, err = s.listen(l.addr, certificate); err != nil {
			return err
		}
	}
	return nil
}

// listen serves on one more address, and answers the host:port to reach it by.
func (s *Server) listen(addr string, certificate tls.Certificate) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	// Without HTTP/2: resetting a connection or trickling into it takes one
	// that is the request's own.
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	s.listening.Go(func() { _ = s.http.Serve(tls.NewListener(l, config)) })
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		_, port, err := net.SplitHostPort(at.String())
		return net.JoinHostPort("localhost", port), err
	}
	return at.String(), nil
}

func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed:
		s.conns.Done()
	}
}

// Close ends every connection, hanging ones too, and waits until they ended.
func (s *Server) Close() {
	s.cancel()
	_ = s.http.Close()
	s.listening.Wait()
	// A connection that was accepted while the first Close looked.
	_ = s.http.Close()
	s.conns.Wait()
}

// CA is the certificate, in PEM, to trust.
func (s *Server) CA() []byte { return s.ca.pem() }

// RootCAs is a pool of CA alone.
func (s *Server) RootCAs() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.ca.certificate)
	return pool
}

// URL is the address of an endpoint; its path begins with a slash.
func (s *Server) URL(path string) string { return "https://" + s.good + path }

// WrongURL is the endpoint behind a certificate for another name.
func (s *Server) WrongURL(path string) string { return "https://" + s.wrong + path }

// ExpiredURL is the endpoint behind a certificate that ended an hour ago.
func (s *Server) ExpiredURL(path string) string { return "https://" + s.expired + path }

// UntrustedURL is the endpoint behind a certificate by a CA that nobody knows.
func (s *Server) UntrustedURL(path string) string { return "https://" + s.untrusted + path }
