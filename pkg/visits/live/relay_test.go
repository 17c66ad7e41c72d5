package live_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/visits/live"
)

// tap is an address between two processes: it carries what each sends to the other, and
// keeps it.
type tap struct {
	net.Listener
	mu             sync.Mutex
	asked, replied bytes.Buffer
}

func (p *tap) keep(to *bytes.Buffer) io.Writer { return writer{p, to} }

type writer struct {
	tap *tap
	to  *bytes.Buffer
}

func (w writer) Write(b []byte) (int, error) {
	w.tap.mu.Lock()
	defer w.tap.mu.Unlock()
	return w.to.Write(b)
}

// heard is what was sent in both directions.
func (p *tap) heard() (asked, replied []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.asked.Bytes()), bytes.Clone(p.replied.Bytes())
}

// newTap takes an address and has answer serve its connections; what they send is kept.
func newTap(t *testing.T, answer func(p *tap, conn net.Conn)) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &tap{Listener: l}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			group.Go(func() {
				defer stop()
				defer conn.Close()
				answer(p, kept{conn, io.TeeReader(conn, p.keep(&p.asked))})
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); group.Wait() })
	return p
}

// kept is a connection whose reads are kept.
type kept struct {
	net.Conn
	from io.Reader
}

func (k kept) Read(b []byte) (int, error) { return k.from.Read(b) }

// carry carries every connection to an address.
func carry(to func() string) func(*tap, net.Conn) {
	return func(p *tap, conn net.Conn) {
		there, err := net.Dial("tcp", to())
		if err != nil {
			return
		}
		defer there.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(io.MultiWriter(conn, p.keep(&p.replied)), there)
			_ = conn.Close()
		}()
		_, _ = io.Copy(there, conn)
		_ = there.Close()
		<-done
	}
}

// unreadable says that nobody reads the conversation from bytes.
func unreadable(t *testing.T, of []byte) {
	t.Helper()
	for _, word := range []string{"vst_", "Welcome", "museum", "session-ready", "Bearer"} {
		require.NotContains(t, string(of), word)
	}
}

// recorded holds a conversation through a tap, and answers what was sent.
func recorded(t *testing.T, s *stage) (asked, replied []byte, to *pod) {
	t.Helper()
	var one *pod
	p := newTap(t, carry(func() string { return one.address }))
	one = s.podAt(p.Addr().String())
	t.Cleanup(one.Stop)
	two := s.pod()
	t.Cleanup(two.Stop)
	minted, c := s.visitor(one, nil)
	moved := s.connect(two, minted.ID, c.resume)
	moved.send("client-ready", nil)
	moved.ask()
	require.Equal(t, []int{1, 0}, []int{one.Live(), two.Live()}, "it is carried")
	moved.send("end", nil)
	moved.ended()
	asked, replied = p.heard()
	return asked, replied, one
}

// Who carries the bytes between two processes reads neither the token nor the words.
func TestNobodyReadsWhatIsRelayed(t *testing.T) {
	t.Parallel()
	asked, replied, _ := recorded(t, newStage(t, 600))
	require.Greater(t, len(asked), 1000)
	require.Greater(t, len(replied), 1000)
	unreadable(t, asked)
	unreadable(t, replied)
}

// stranger is a certificate of somebody who has not the secret.
func stranger(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"relay.visavis.internal"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: visavis-relay\r\n\r\n"

// Whoever answers at the address of a process that is gone learns nothing, whatever they
// answer; the conversation goes on in the process that called.
func TestAnImpostorThatAnswersLearnsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	_, replied, _ := recorded(t, s)
	foreign := s.podWith(live.Options{Secret: []byte("another deployment's")})
	t.Cleanup(foreign.Stop)
	ours := s.pod()
	t.Cleanup(ours.Stop)
	certificate := stranger(t)
	for name, answer := range map[string]func(*tap, net.Conn){
		"opens the socket": func(_ *tap, conn net.Conn) {
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			w := &hijacked{conn: conn, header: http.Header{}}
			if socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{live.Subprotocol}, InsecureSkipVerify: true}); err == nil {
				_, _, _ = socket.Read(t.Context())
			}
		},
		"has a certificate of its own": func(p *tap, conn net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
				return
			}
			_, _ = io.WriteString(conn, switching)
			inside := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert})
			_, _ = io.Copy(p.keep(&p.asked), inside)
		},
		"says again what a process said": func(_ *tap, conn net.Conn) {
			go func() { _, _ = conn.Write(replied) }()
			_, _ = io.Copy(io.Discard, conn)
		},
		"is of another deployment":   carry(func() string { return foreign.address }),
		"carries to another of ours": carry(func() string { return ours.address }),
		"says nothing":               func(_ *tap, conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
	} {
		t.Run(name, func(t *testing.T) {
			impostor := newTap(t, answer)
			gone, two := s.podAt(impostor.Addr().String()), s.pod()
			defer two.Stop()
			minted, c := s.visitor(gone, nil)
			moved := s.connect(two, minted.ID, c.resume)
			require.Equal(t, 1, two.Live(), "it has the session now")
			moved.send("client-ready", nil)
			moved.ask()
			asked, replied := impostor.heard()
			require.NotEmpty(t, asked, "it was called")
			unreadable(t, asked)
			unreadable(t, replied)
			moved.send("end", nil)
			moved.ended()
			gone.Stop()
		})
	}
	require.Zero(t, ours.Live())
}

// hijacked answers over a connection.
type hijacked struct {
	conn   net.Conn
	header http.Header
}

func (h *hijacked) Header() http.Header         { return h.header }
func (h *hijacked) Write(b []byte) (int, error) { return h.conn.Write(b) }
func (h *hijacked) WriteHeader(int) {
	_, _ = io.WriteString(h.conn, "HTTP/1.1 101 Switching Protocols\r\n")
	_ = h.header.Write(h.conn)
	_, _ = io.WriteString(h.conn, "\r\n")
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// Whoever calls a process as if they were one brings nothing, also not with what another
// one sent once.
func TestAnImpostorThatCallsBringsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	asked, replied, one := recorded(t, s)
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(asked)))
	require.NoError(t, err)
	seal, certificate := r.Header.Get("X-Visavis-Relayed"), stranger(t)
	require.NotEmpty(t, seal)
	call := func(t *testing.T, seal string) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", one.address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: visavis-relay\r\nX-Visavis-Relayed: %s\r\n\r\n", r.URL.Path, one.address, seal)
		require.NoError(t, err)
		return conn
	}
	t.Run("without the seal", func(t *testing.T) {
		for _, seal := range []string{"", "1", strings.Repeat("0", len(seal))} {
			answer, err := http.ReadResponse(bufio.NewReader(call(t, seal)), nil)
			require.NoError(t, err)
			_ = answer.Body.Close()
			require.Equal(t, http.StatusForbidden, answer.StatusCode, seal)
		}
	})
	t.Run("without a certificate of ours", func(t *testing.T) {
		for _, shown := range [][]tls.Certificate{nil, {certificate}} {
			conn := call(t, seal)
			_, err := io.ReadFull(conn, make([]byte, len(switching)))
			require.NoError(t, err)
			inside := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, Certificates: shown})
			_, _ = fmt.Fprintf(inside, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", r.URL.Path, one.Address)
			_, err = inside.Read(make([]byte, 1))
			require.ErrorContains(t, err, "tls: ")
		}
	})
	t.Run("with what another sent", func(t *testing.T) {
		conn, err := net.Dial("tcp", one.address)
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write(asked)
		require.NoError(t, err)
		again, _ := io.ReadAll(conn) // until it is hung up
		require.Less(t, len(again), len(replied)/2)
		unreadable(t, again)
	})
	require.Zero(t, one.Live())
}

// A socket is brought straight to its process, whatever proxy the environment names
// (TestMain). This address leads here, but none is exempt from a proxy that does not say
// loopback.
func TestTheProxyOfTheEnvironmentRelaysNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	var one *pod
	p := newTap(t, carry(func() string { return one.address }))
	_, port, err := net.SplitHostPort(p.Addr().String())
	require.NoError(t, err)
	one = s.podAt("0.0.0.0:" + port)
	defer one.Stop()
	two := s.pod()
	defer two.Stop()
	through, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "http", Host: "0.0.0.0:" + port}})
	require.NoError(t, err)
	require.NotNil(t, through, "the environment names one")
	minted, c := s.visitor(one, nil)
	s.connect(two, minted.ID, c.resume)
	require.Equal(t, []int{1, 0}, []int{one.Live(), two.Live()})
}
