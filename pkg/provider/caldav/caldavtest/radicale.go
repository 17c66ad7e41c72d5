package caldavtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

// Radicale is a real CalDAV server.
type Radicale struct {
	URL string
	t   testing.TB
	// client reaches it as a person's program does.
	client *http.Client
	guard  *egress.Guard
}

// What Radicale's account and its calendar are.
const (
	RadicaleSecret   = "ada:correct horse"
	RadicaleCalendar = "/ada/desk/"
)

// StartRadicale starts one with an empty calendar. Where it is not installed the test is skipped.
func StartRadicale(t testing.TB) *Radicale {
	t.Helper()
	program, err := exec.LookPath("radicale")
	if err != nil {
		t.Skip("Radicale is not installed (hack/calendars.sh installs it on Debian): nothing was tested with a real CalDAV server")
	}
	folder := t.TempDir()
	certificate := writeCertificate(t, folder)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	users := write("users", RadicaleSecret+"\n")
	config := write("config", fmt.Sprintf("[server]\nhosts = %s\nssl = True\ncertificate = %s\nkey = %s\n[auth]\ntype = htpasswd\nhtpasswd_filename = %s\nhtpasswd_encryption = plain\ndelay = 0\n[storage]\nfilesystem_folder = %s\n",
		address, filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), users, filepath.Join(folder, "collections")))
	var said bytes.Buffer
	server := exec.Command(program, "--config", config)
	server.Stdout, server.Stderr = &said, &said
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	r := &Radicale{URL: "https://" + address, t: t, guard: guard(certificate)}
	r.client = r.guard.Client()
	require.Eventually(t, func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond)
	require.Equal(t, http.StatusCreated, r.Do("MKCALENDAR", RadicaleCalendar, `<?xml version="1.0"?><c:mkcalendar xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><set><prop><displayname>Work</displayname></prop></set></c:mkcalendar>`))
	return r
}

// Guard reaches the server.
func (r *Radicale) Guard() *egress.Guard { return r.guard }

// Do makes a request as a person's program does, and answers the status.
func (r *Radicale) Do(method, path, body string) int {
	r.t.Helper()
	req, err := http.NewRequest(method, r.URL+path, strings.NewReader(body)) //nolint:noctx // a test's
	require.NoError(r.t, err)
	user, password, _ := strings.Cut(RadicaleSecret, ":")
	req.SetBasicAuth(user, password)
	if strings.HasPrefix(body, "BEGIN:") {
		req.Header.Set("Content-Type", "text/calendar")
	}
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

// Put writes a text into the calendar, as a person does.
func (r *Radicale) Put(name, text string) {
	r.t.Helper()
	require.Equal(r.t, http.StatusCreated, r.Do(http.MethodPut, RadicaleCalendar+name, text))
}

// writeCertificate makes a certificate of the server's.
func writeCertificate(t testing.TB, folder string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600))
	}
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return certificate
}
