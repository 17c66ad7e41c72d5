package crawl_test

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/text/crawl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a host on loopback under the name example.com, which notes what it is
// asked for.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string
	handler map[string]http.HandlerFunc // by path; others are not found
}

func serve(t *testing.T, handler map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{handler: handler}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.mu.Unlock()
		if h := s.handler[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// at is a URL of the site.
func (s *site) at(path string) string {
	return strings.Replace(s.URL, "127.0.0.1", "example.com", 1) + path
}

// requests are the pages asked for, robots.txt left out.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, a := range s.asked {
		if a != "/robots.txt" {
			out = append(out, a)
		}
	}
	return out
}

// loopbackFor resolves every name to loopback but "private.example.com", to a private
// address.
type loopbackFor struct{}

func (loopbackFor) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "private.example.com" {
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func crawlerFor(t *testing.T, s *site, c clock.Clock, timeout time.Duration) *crawl.Crawler {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	g := egress.New(egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots, Resolver: loopbackFor{}, Timeout: timeout,
	})
	t.Cleanup(g.Client().CloseIdleConnections)
	return crawl.New(g, c)
}

// fetch crawls and gives the URLs it was given, by their paths.
func (s *site) fetch(t *testing.T, path string, o crawl.Options) ([]string, error) {
	t.Helper()
	o.MaxBytes = 1 << 16
	var got []string
	err := crawlerFor(t, s, clock.RealClock{}, 5*time.Second).Fetch(t.Context(), s.at(path), o, func(p crawl.Page) error {
		got = append(got, strings.TrimPrefix(p.URL, s.at("")))
		return nil
	})
	return got, err
}

func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

func links(to ...string) http.HandlerFunc {
	var body strings.Builder
	body.WriteString("<html><p>Text")
	for _, l := range to {
		body.WriteString(`<a href="` + l + `">x</a>`)
	}
	return says("text/html", body.String())
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
