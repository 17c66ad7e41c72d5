package apitest

import (
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// pictureServer is a server elsewhere that customers name addresses of.
type pictureServer struct {
	*httptest.Server
	// plain speaks no TLS.
	Plain                *httptest.Server
	Requests, Redirected atomic.Int64
}

func ServePictures(t *testing.T) *pictureServer {
	t.Helper()
	s := &pictureServer{}
	_, encoded, _ := strings.Cut(Portrait(), ",")
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
		s.Redirected.Add(1)
		_, _ = w.Write(picture)
	})
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Requests.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	s.Plain = httptest.NewServer(mux)
	t.Cleanup(s.Plain.Close)
	return s
}

// Trusted makes an API trust the server's certificate.
func (s *pictureServer) Trusted(o *Options) {
	o.RootCAs = x509.NewCertPool()
	o.RootCAs.AddCert(s.Certificate())
}
