package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/mail"
)

var letter = mail.Message{
	ID: "job_1", To: "kim@example.com", Subject: "Grüße", Text: "Come in: https://example.com/link#member=vml_1\n",
	HTML: "<p>Come in</p>", Language: "de",
}

func TestAddresses(t *testing.T) {
	for _, good := range []string{
		"smtp://u:p@mail.example.com:587?from=a@example.com", "smtps://mail.example.com?from=Visavis+%3Ca@example.com%3E",
		"smtp://relay.internal:25?from=a@example.com&tls=off", "file:///tmp/mail?from=a@example.com",
	} {
		_, err := mail.Open(good, nil)
		require.NoError(t, err, good)
	}
	for _, bad := range []string{
		"", "http://mail.example.com?from=a@example.com", "smtp://mail.example.com", "smtp://mail.example.com?from=a", "smtp://?from=a@example.com",
		"smtp://mail.example.com?from=a@example.com&tls=on", "smtps://mail.example.com?from=a@example.com&tls=off",
		"smtp://u:secret@mail.example.com?from=a@example.com&tls=off", "smtp://mail.example.com:0?from=a@example.com",
		"smtp://mail.example.com?from=a@example.com&x=y", "smtp://u:secret%zz@mail.example.com?from=a@example.com",
	} {
		_, err := mail.Open(bad, nil)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	s, err := mail.Open((&url.URL{Scheme: "file", Path: dir, RawQuery: "from=Visavis+%3Ca@example.com%3E"}).String(), nil)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, s.Send(t.Context(), letter))
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "the second is the first again")
	require.Equal(t, "job_1.eml", files[0].Name())
	f, err := os.Open(filepath.Join(dir, "job_1.eml"))
	require.NoError(t, err)
	defer f.Close()
	read, err := netmail.ReadMessage(f)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"Message-Id": "<job_1@example.com>", "From": `"Visavis" <a@example.com>`, "To": "<kim@example.com>", "Subject": "=?UTF-8?q?Gr=C3=BC=C3=9Fe?=",
		"Auto-Submitted": "auto-generated", "Content-Language": "de",
	} {
		require.Equal(t, want, read.Header.Get(name), name)
	}
	require.Contains(t, read.Header.Get("Content-Type"), "multipart/alternative")
}

func TestNothingBreaksOutOfTheHead(t *testing.T) {
	dir := t.TempDir()
	s, err := mail.Open("file://"+dir+"?from=a@example.com", nil)
	require.NoError(t, err)
	for name, change := range map[string]func(*mail.Message){
		"the subject":    func(m *mail.Message) { m.Subject = "x\r\nBcc: eve@example.com" },
		"the address":    func(m *mail.Message) { m.To = "kim@example.com\nBcc: eve@example.com" },
		"two addresses":  func(m *mail.Message) { m.To = "kim@example.com, eve@example.com" },
		"no address":     func(m *mail.Message) { m.To = "kim" },
		"the message id": func(m *mail.Message) { m.ID = "1>\r\nBcc: eve@example.com" },
		"the language":   func(m *mail.Message) { m.Language = "de\nX: y" },
	} {
		m := letter
		change(&m)
		var refused *mail.Refusal
		require.ErrorAs(t, s.Send(t.Context(), m), &refused, name)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
}

// relay is a mail server on loopback.
type relay struct {
	net.Listener
	// tls offers STARTTLS; nil for none. answer is said to DATA's end.
	tls    *tls.Config
	answer string

	mu    sync.Mutex
	heard []string
}

func newRelay(t *testing.T, config *tls.Config, answer string) *relay {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{Listener: l, tls: config, answer: answer}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *relay) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	say := func(line string) { fmt.Fprint(c, line+"\r\n") }
	say("220 relay")
	in := bufio.NewReader(c)
	data := false
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		r.mu.Lock()
		r.heard = append(r.heard, line)
		r.mu.Unlock()
		switch word, _, _ := strings.Cut(line, " "); {
		case data && line == ".":
			data = false
			say(r.answer)
		case data:
		case word == "EHLO" && r.tls != nil:
			say("250-relay\r\n250 STARTTLS")
		case word == "STARTTLS":
			say("220 go on")
			c = tls.Server(c, r.tls)
			in = bufio.NewReader(c)
		case word == "DATA":
			data = true
			say("354 go on")
		case word == "QUIT":
			return // without a goodbye
		default:
			say("250 ok")
		}
	}
}

func (r *relay) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.heard, "\n")
}

func TestAServer(t *testing.T) {
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	t.Cleanup(certified.Close)
	known := x509.NewCertPool()
	known.AddCert(certified.Certificate())
	secure := &tls.Config{Certificates: certified.TLS.Certificates}
	for name, c := range map[string]struct {
		tls            *tls.Config
		roots          *x509.CertPool
		query, answer  string
		taken, refused bool
	}{
		"STARTTLS":                      {secure, known, "", "250 ok", true, false},
		"who the server is nobody says": {secure, nil, "", "250 ok", false, false},
		"no STARTTLS":                   {nil, known, "", "250 ok", false, false},
		"without, as is wanted":         {nil, nil, "&tls=off", "250 ok", true, false},
		"for a while":                   {nil, nil, "&tls=off", "451 later", false, false},
		"for good":                      {nil, nil, "&tls=off", "554 never", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRelay(t, c.tls, c.answer)
			s, err := mail.Open("smtp://"+r.Addr().String()+"?from=a@example.com"+c.query, c.roots)
			require.NoError(t, err)
			err = s.Send(t.Context(), letter)
			var refused *mail.Refusal
			require.Equal(t, c.taken, err == nil, "%v", err)
			require.Equal(t, c.refused, errors.As(err, &refused), "%v", err)
			if c.taken {
				require.Contains(t, r.said(), "RCPT TO:<kim@example.com>")
				require.Contains(t, r.said(), "Message-ID: <job_1@example.com>")
			} else if c.query == "" {
				require.NotContains(t, r.said(), "MAIL FROM", "nothing is said in clear")
			}
		})
	}
}
