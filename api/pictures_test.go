package api_test

import (
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// pictureServer is a server elsewhere that customers name addresses of.
type pictureServer struct {
	*httptest.Server
	// plain speaks no TLS.
	plain                *httptest.Server
	requests, redirected atomic.Int64
}

func servePictures(t *testing.T) *pictureServer {
	t.Helper()
	s := &pictureServer{}
	_, encoded, _ := strings.Cut(portrait(), ",")
	picture, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	mux := http.NewServeMux()
	answer := func(path string, body []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	}
	answer("/portrait", picture)
	answer("/text", []byte("hello"))
	answer("/large", make([]byte, 6<<20+1))
	mux.Handle("/redirect", http.RedirectHandler("/redirected", http.StatusFound))
	mux.HandleFunc("/redirected", func(w http.ResponseWriter, _ *http.Request) {
		s.redirected.Add(1)
		_, _ = w.Write(picture)
	})
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	s.plain = httptest.NewServer(mux)
	t.Cleanup(s.plain.Close)
	return s
}

// trusted makes an API trust the server's certificate.
func (s *pictureServer) trusted(o *apitest.Options) {
	o.RootCAs = x509.NewCertPool()
	o.RootCAs.AddCert(s.Certificate())
}
