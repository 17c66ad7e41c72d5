// Package livekittest runs a LiveKit server for tests. It is the real one, built from its
// Go module the first time, and listens on loopback alone.
package livekittest

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/binaries"
	"visavis.dev/pkg/base/childproc"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/livekit"
)

// program is the server's among the binaries.
const program = "livekit-server"

// Server is a server that runs.
type Server struct {
	// URL is where clients reach it, over TLS.
	URL string
	Key livekit.Key
	// Front takes the connections from outside; its certificate is to be trusted.
	Front *httptest.Server
	// plain is where it listens itself.
	plain string
}

// starts is how often a server is started: somebody else can take a port between its being
// found free and its being used.
const starts = 5

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Key: livekit.Key{ID: "APItests", Secret: "secret-of-a-media-server-0123456789"}}
	file := path(t)
	for range starts {
		if s.launch(t, file) {
			s.front(t)
			return s
		}
	}
	require.FailNow(t, "the media server does not answer")
	return nil
}

// launch starts the program on ports that are free now; false where it ended, or is silent.
func (s *Server) launch(t testing.TB, file string) bool {
	t.Helper()
	tcp, udp := port(t), udpPort(t)
	s.plain = fmt.Sprintf("http://127.0.0.1:%d", tcp)
	config := fmt.Sprintf(`
port: %d
bind_addresses: [127.0.0.1]
rtc: {udp_port: %d, tcp_port: 0, node_ip: 127.0.0.1, use_external_ip: false, enable_loopback_candidate: true, ips: {includes: [127.0.0.0/8]}}
keys: {%s: %s}
logging: {level: error}
`, tcp, udp, s.Key.ID, s.Key.Secret)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), file, "--config-body", config)
	// A test that is killed leaves nothing behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	childproc.EndWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	output := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the media server: %s", output)
		}
	})
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for late := time.After(20 * time.Second); ; {
		select {
		case <-look.C:
			if s.answers() {
				return true
			}
		case <-ended:
			return false
		case <-late:
			return false
		}
	}
}

// front puts TLS before it.
func (s *Server) front(t testing.TB) {
	behind, err := url.Parse(s.plain)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }, ErrorLog: log.New(io.Discard, "", 0)}
	s.Front = httptest.NewUnstartedServer(proxy)
	s.Front.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Front.StartTLS()
	t.Cleanup(s.Front.Close)
	s.URL = "wss" + strings.TrimPrefix(s.Front.URL, "https")
}

func (s *Server) answers() bool {
	resp, err := http.Get(s.plain)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// Guard is one that reaches the server, and loopback besides.
func (s *Server) Guard() *egress.Guard { return Guard(s.Front) }

// Guard is one that reaches a TLS server of a test, and loopback besides.
func Guard(front *httptest.Server) *egress.Guard { return GuardWithin(front, "127.0.0.0/8") }

// GuardWithin is one that reaches a TLS server of a test, and a range besides.
func GuardWithin(front *httptest.Server, allowed string) *egress.Guard {
	roots := x509.NewCertPool()
	roots.AddCert(front.Certificate())
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix(allowed)}, RootCAs: roots})
}

// Token lets an identity into a room, to do there what the grant says.
func (s *Server) Token(t testing.TB, room, identity string, g livekit.Grant) string {
	t.Helper()
	g.Room, g.RoomJoin = room, true
	token, err := s.Key.Mint(livekit.Participant{Identity: identity}, g, time.Now(), time.Minute)
	require.NoError(t, err)
	return token
}

// API asks the server about its rooms.
func (s *Server) API() livekit.Server {
	return livekit.Server{HTTP: s.Guard().Client(), URL: s.URL, Key: s.Key}
}

// path is where the program is.
func path(t testing.TB) string {
	root, err := binaries.Root()
	require.NoError(t, err)
	builder, err := binaries.New(root)
	require.NoError(t, err)
	folder, err := builder.Folder(t.Context(), program)
	require.NoError(t, err)
	return filepath.Join(folder, program)
}

func port(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func udpPort(t testing.TB) int {
	l, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer l.Close()
	return l.LocalAddr().(*net.UDPAddr).Port
}
