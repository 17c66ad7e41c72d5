package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

const benchConnections = 32

var benchBody = bytes.Repeat([]byte("x"), 1024)

// benchServer is as little of a server as will do, so that what is measured is the
// client: it answers whatever ends like benchBody.
func benchServer(b *testing.B) (url string, roots *x509.CertPool) {
	b.Helper()
	lender := httptest.NewTLSServer(nil) // of a certificate
	defer lender.Close()
	roots = x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	config := &tls.Config{Certificates: lender.TLS.Certificates}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(b, err)
	b.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(conn)
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(b, err)
	return "https://example.com:" + port + "/hooks/visavis?customer=42", roots
}

func answerAll(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		for { // the header
			line, err := reader.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := reader.Discard(len(benchBody)); err != nil {
			return
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}

func benchHeader() http.Header {
	return http.Header{
		"Content-Type":          {"application/json"},
		"User-Agent":            {"Visavis"},
		"X-Service-Signature":   {"sha256=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		"X-Service-Timestamp":   {"1790000000000"},
		"X-Service-Event":       {"session.ended"},
		"X-Service-Event-Id":    {"evt_0123456789abcdef"},
		"X-Service-Delivery-Id": {"whd_0123456789abcdef"},
	}
}

func BenchmarkPost(b *testing.B) {
	raw, roots := benchServer(b)
	guard := egress.New(egress.Options{
		Allow:    []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		RootCAs:  roots,
		Resolver: resolvesTo("127.0.0.1"),
		MaxIdle:  benchConnections, MaxIdlePerHost: benchConnections,
	})
	b.Cleanup(guard.Client().CloseIdleConnections)
	target, err := guard.Target(raw)
	require.NoError(b, err)
	inParallel(b, func() bool {
		reply, err := target.Post(b.Context(), benchHeader(), benchBody)
		return err == nil && reply.Status == http.StatusOK
	})
}

// BenchmarkBarePost is the floor: the same exchange without a guard.
func BenchmarkBarePost(b *testing.B) {
	raw, roots := benchServer(b)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, strings.Replace(address, "example.com", "127.0.0.1", 1))
		},
		TLSClientConfig:    &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableCompression: true,
		MaxIdleConns:       benchConnections, MaxIdleConnsPerHost: benchConnections,
		Protocols: protocols,
	}}
	b.Cleanup(client.CloseIdleConnections)
	inParallel(b, func() bool {
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, raw, bytes.NewReader(benchBody))
		if err != nil {
			return false
		}
		request.Header = benchHeader()
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err == nil && response.StatusCode == http.StatusOK
	})
}

// inParallel runs post on as many goroutines as there are connections.
func inParallel(b *testing.B, post func() bool) {
	b.ReportAllocs()
	b.SetParallelism(max(benchConnections/runtime.GOMAXPROCS(0), 1))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !post() {
				b.Error("the post failed")
				return
			}
		}
	})
}
