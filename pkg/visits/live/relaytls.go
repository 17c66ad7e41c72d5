package live

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
)

// relayName is the name in the certificate of every process.
const relayName = "relay.visavis.internal"

// relayTLS is the configuration of both ends of a connection between processes: TLS 1.3
// in which each end shows a certificate whose key follows from the secret. Nobody without
// it can be either end, what one connection shows is worth nothing in another or in the
// other direction, and who records it and learns the secret later cannot read it.
func relayTLS(secret []byte) *tls.Config {
	if len(secret) == 0 { // no process knows another
		secret = make([]byte, sha256.Size)
		_, _ = rand.Read(secret) // never fails
	}
	seed, err := hkdf.Key(sha256.New, secret, nil, "visavis relay between processes 1", ed25519.SeedSize)
	if err != nil {
		panic(fmt.Errorf("the key of the relay cannot be derived: %w", err)) // a fault of the program
	}
	key := ed25519.NewKeyFromSeed(seed)
	// Each process signs one of its own with the key that all have. It is never renewed,
	// and clocks have no say: who has the secret is one of ours.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: relayName}, DNSNames: []string{relayName},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // the last there is (RFC 5280, 4.1.2.5)
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(fmt.Errorf("the certificate of the relay cannot be made: %w", err)) // a fault of the program
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(fmt.Errorf("the certificate of the relay cannot be read: %w", err)) // a fault of the program
	}
	ours := x509.NewCertPool()
	ours.AddCert(leaf)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}},
		RootCAs: ours, ServerName: relayName,
		ClientCAs: ours, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true,
	}
}

// secure connects to the process at an address, past any proxy, and has it show that it
// has the secret.
func (s *Server) secure(ctx context.Context, which id.Session, address string) (_ net.Conn, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer func() {
		if !stop() {
			err = errors.Join(err, ctx.Err())
		}
		if err != nil {
			_ = conn.Close()
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+Path+which.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {relayProtocol}, relayedHeader: {s.seal(which)}}
	if err := r.Write(conn); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, r)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Upgrade") != relayProtocol || reader.Buffered() > 0 {
		return nil, fmt.Errorf("it answered %s", answer.Status)
	}
	secured := tls.Client(conn, s.tls)
	return secured, secured.HandshakeContext(ctx)
}

// broughtKey is in the context of what another process brought.
type broughtKey struct{}

// brought says whether another process brought a socket: it has shown that it has the
// secret, and the socket is brought no further.
func brought(ctx context.Context) bool { return ctx.Value(broughtKey{}) != nil }

// takeRelay has whoever asks for relayProtocol show that it has the secret, and serves
// what it brings then.
func (s *Server) takeRelay(w http.ResponseWriter, r *http.Request) {
	if !s.Relayed(r) || brought(r.Context()) {
		http.Error(w, "the relay is for processes of the deployment", http.StatusForbidden)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "the connection cannot be upgraded", http.StatusInternalServerError)
		return
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), dialWithin)
	defer cancel()
	secured := tls.Server(conn, s.tls)
	_ = conn.SetDeadline(time.Now().Add(dialWithin))
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", relayProtocol)
	if err == nil {
		err = secured.HandshakeContext(ctx)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "refused to relay: the other end has not shown that it is a process of the deployment",
			"address", conn.RemoteAddr().String(), "error", err)
		return
	}
	_ = conn.SetDeadline(time.Time{})
	s.serveRelay(r.Context(), secured)
}

// serveRelay serves the one socket of a connection, until it ends.
func (s *Server) serveRelay(ctx context.Context, conn net.Conn) {
	l := &single{conn: make(chan net.Conn, 1), addr: conn.LocalAddr(), done: make(chan struct{})}
	l.conn <- conn
	server := &http.Server{
		ReadHeaderTimeout: dialWithin,
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.WithoutCancel(ctx), broughtKey{}, true)
		},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed { // before there was anything to handle, or after
				_ = l.Close()
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { _ = l.Close() }()
			if r.Host != s.Address {
				// Somebody in between has brought it to another process than was called.
				http.Error(w, "this process is "+s.Address, http.StatusMisdirectedRequest)
				return
			}
			s.ServeHTTP(w, r)
		}),
	}
	_ = server.Serve(l) // until the listener is closed
	_ = server.Close()
}

// single is a listener of one connection, until that is done with.
type single struct {
	conn chan net.Conn
	addr net.Addr
	once sync.Once
	done chan struct{}
}

// Accept implements [net.Listener].
func (l *single) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *single) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements [net.Listener].
func (l *single) Addr() net.Addr { return l.addr }
