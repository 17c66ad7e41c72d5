package egress_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

func TestFetch(t *testing.T) {
	var got *http.Request
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		hello(w, r)
	})
	guard := guardFor(t, s)
	response, err := guard.Fetch(t.Context(), s.named()+"/a%2Fb?c=d#e", 5)
	require.NoError(t, err)
	require.Equal(t, &egress.Response{Status: 200, ContentType: "text/plain", Body: []byte("hello")}, response)

	require.Equal(t, "/a%2Fb?c=d", got.RequestURI)
	require.Equal(t, strings.TrimPrefix(s.named(), "https://"), got.Host)
	require.Equal(t, "example.com", got.TLS.ServerName)
	require.GreaterOrEqual(t, got.TLS.Version, uint16(tls.VersionTLS12))
	require.Equal(t, http.Header{"Accept-Encoding": {"identity"}, "User-Agent": {"Visavis"}}, got.Header)

	_, err = guard.Fetch(t.Context(), s.URL, math.MaxInt64)
	require.NoError(t, err, "by its address, unbounded")
}

func TestFetchAs(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.UserAgent()) })
	response, err := guardFor(t, s).FetchAs(t.Context(), "Walker/1", s.named(), 100)
	require.NoError(t, err)
	require.Equal(t, "Walker/1", string(response.Body))
}

// TestMain has set a proxy that nothing listens at. It must be a named host:
// net/http never uses the environment's proxy for 127.0.0.1.
func TestTheEnvironmentsProxyIsNotUsed(t *testing.T) {
	require.Equal(t, proxyAddress, os.Getenv("HTTPS_PROXY"))
	s := serve(t, hello)
	_, err := guardFor(t, s).Fetch(t.Context(), s.named(), 100)
	require.NoError(t, err)
}

func TestFetchRefusesURLsAndHosts(t *testing.T) {
	s := serve(t, hello)
	guard := guardFor(t, s, func(o *egress.Options) { o.Allow = nil })
	var invalid *egress.InvalidURLError
	_, err := guard.Fetch(t.Context(), "http://example.com/", 100)
	require.ErrorAs(t, err, &invalid)
	var refused *egress.RefusedError
	for _, raw := range []string{s.URL, s.named()} {
		_, err = guard.Fetch(t.Context(), raw, 100)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, egress.ClassLoopback, refused.Class)
		require.EqualError(t, err, "the address of the host is not allowed (loopback)")
	}
	require.Zero(t, s.connections.Load())
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"/target", "http://127.0.0.1/", "::bad::", ""} {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/target" {
					t.Error("the redirect was followed")
				}
				if location != "" {
					w.Header().Set("Location", location)
				}
				w.WriteHeader(status)
			})
			guard := guardFor(t, s)
			_, err := guard.Fetch(t.Context(), s.named(), 100)
			require.ErrorIs(t, err, egress.ErrRedirect)
			_, err = guard.Client().Post(s.named(), "text/plain", strings.NewReader("x"))
			require.ErrorIs(t, err, egress.ErrRedirect)
			require.NotContains(t, err.Error(), "bad::")
			var redirect *egress.RedirectError
			require.ErrorAs(t, err, &redirect)
			require.Equal(t, location, redirect.Location)
		}
	}
}

func TestFetchBoundsTheBody(t *testing.T) {
	// raw writes a response that net/http's server would correct.
	raw := func(response string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, response)
		}
	}
	large := strings.Repeat("x", 101)
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		body    string
		err     error
	}{
		"exact": {
			handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + large[:100]), body: large[:100],
		},
		"announced": {
			handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + large), err: egress.ErrTooLarge,
		},
		"announced only": {
			handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"), err: egress.ErrTooLarge,
		},
		"chunked": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				for range len(large) {
					_, _ = io.WriteString(w, "x")
					w.(http.Flusher).Flush()
				}
			}, err: egress.ErrTooLarge,
		},
		"until the connection closes": {
			handler: raw("HTTP/1.1 200 OK\r\n\r\n" + large), err: egress.ErrTooLarge,
		},
		"more than announced": { // the surplus is never read
			handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + large), body: "xxx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, tc.handler)
			response, err := guardFor(t, s).Fetch(t.Context(), s.named(), 100)
			require.ErrorIs(t, err, tc.err)
			if tc.err == nil {
				require.Equal(t, tc.body, string(response.Body))
			}
		})
	}

	t.Run("less than announced", func(t *testing.T) {
		s := serve(t, raw("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\nxxx"))
		_, err := guardFor(t, s).Fetch(t.Context(), s.named(), 100)
		var network *egress.NetworkError
		require.ErrorAs(t, err, &network)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

func TestCompressedBodiesAreNotInflated(t *testing.T) {
	var bomb bytes.Buffer
	writer := gzip.NewWriter(&bomb)
	_, err := writer.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	response, err := guardFor(t, s).Fetch(t.Context(), s.named(), int64(bomb.Len()))
	require.NoError(t, err)
	require.Equal(t, bomb.Bytes(), response.Body)
}

func TestFetchReportsTheStatus(t *testing.T) {
	for _, code := range []int{300, 304, 400, 404, 429, 500, 503} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(code)
		})
		_, err := guardFor(t, s).Fetch(t.Context(), s.named(), 100)
		var status *egress.StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, code, status.Code)
		require.EqualError(t, err, fmt.Sprintf("the server answered with status %d", code))
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	response, err := guardFor(t, s).Fetch(t.Context(), s.named(), 0)
	require.NoError(t, err)
	require.Empty(t, response.Body)
}

func TestTimeouts(t *testing.T) {
	beforeHeader := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	inBody := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, handler := range map[string]http.HandlerFunc{"before the header": beforeHeader, "in the body": inBody} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, handler)
			guard := guardFor(t, s, func(o *egress.Options) { o.Timeout = 50 * time.Millisecond })
			_, err := guard.Fetch(t.Context(), s.named(), 100)
			require.ErrorIs(t, err, egress.ErrTimeout)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualError(t, err, "the request took too long")
		})
		t.Run("the caller's, "+name, func(t *testing.T) {
			s := serve(t, handler)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := guardFor(t, s).Fetch(ctx, s.named(), 100)
			require.ErrorIs(t, err, egress.ErrTimeout)
		})
	}
}

func TestCancellationStaysACancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := guardFor(t, s).Fetch(ctx, s.named(), 100)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, egress.ErrTimeout)
}

func TestUntrustedCertificatesAreRefused(t *testing.T) {
	s := serve(t, hello)
	for name, tc := range map[string]struct {
		raw    string
		change func(*egress.Options)
	}{
		"unknown authority": {s.named(), func(o *egress.Options) { o.RootCAs = nil }},
		"another name":      {strings.Replace(s.named(), "example.com", "example.org", 1), func(*egress.Options) {}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guardFor(t, s, tc.change).Fetch(t.Context(), tc.raw, 100)
			var certificate *tls.CertificateVerificationError
			require.ErrorAs(t, err, &certificate)
			require.EqualError(t, err, "the certificate of the server could not be verified")
		})
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	s := serve(t, hello)
	s.TLS.MinVersion, s.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	_, err := guardFor(t, s).Fetch(t.Context(), s.named(), 100)
	var network *egress.NetworkError
	require.ErrorAs(t, err, &network)
}

func TestALargeHeaderIsRefused(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("x", 70<<10))
	})
	_, err := guardFor(t, s).Fetch(t.Context(), s.named(), 100)
	var network *egress.NetworkError
	require.ErrorAs(t, err, &network)
}
