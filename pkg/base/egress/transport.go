package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// userAgent names the product to servers, some of which turn away the
	// language's default.
	userAgent = "Visavis"
	// maxHeader bounds the header of a response, in bytes.
	maxHeader = 64 << 10
	// idleTimeout is how long a connection is kept for another request.
	idleTimeout = 30 * time.Second
)

// transport makes the requests of [Guard.Client] and [Guard.Fetch]. A pooled
// connection needs no further check: it leads to the address that was checked when
// it was made.
type transport struct {
	guard   *Guard
	base    *http.Transport
	timeout time.Duration // of a whole exchange
	maxBody int64         // of a response to RoundTrip
}

func newTransport(g *Guard, o Options) *transport {
	base := newBase(g, o)
	base.DialContext = g.dialContext
	return &transport{guard: g, base: base, timeout: g.timeout, maxBody: g.maxBody}
}

// newBase makes a pool of connections without the way to make one.
func newBase(g *Guard, o Options) *http.Transport {
	// HTTP/1.1 only: every server speaks it, and its bounds are simple.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil, // in particular not the environment's: it would resolve for us
		TLSClientConfig:        g.tls,
		TLSHandshakeTimeout:    g.timeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // a small body must not become a large one behind the bound
		MaxIdleConns:           o.MaxIdle,
		MaxIdleConnsPerHost:    o.MaxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		Protocols:              protocols,
	}
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.send(req, t.maxBody)
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (t *transport) CloseIdleConnections() {
	t.base.CloseIdleConnections()
	if inside := t.guard.inside; inside != nil {
		inside.transport.base.CloseIdleConnections()
	}
	t.guard.posts.CloseIdleConnections()
}

// send makes one request and bounds the body of its response by maxBody bytes.
//
// A redirect is an error already here, although a RoundTripper ought to return
// it: http.Client would parse its Location first and fail on a bad one with an
// error that quotes it.
func (t *transport) send(req *http.Request, maxBody int64) (*http.Response, error) {
	checked, err := t.guard.checkForm(req.URL)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it even if it sends nothing
		}
		return nil, err
	}
	// http.Client.Timeout would do, but hides our errors behind its own.
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	out := req.Clone(ctx)
	out.URL = checked
	out.Host = "" // a Host of the caller's could name another site than the one that was checked
	out.Header.Set("Accept-Encoding", "identity")
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header.Set("User-Agent", userAgent)
	}
	resp, err := t.pool(checked.Scheme).RoundTrip(out)
	if err != nil {
		cancel()
		return nil, explain(req.Context(), err)
	}
	resp.Body = &body{
		ReadCloser: http.MaxBytesReader(nil, resp.Body, maxBody),
		raw:        resp.Body,
		caller:     req.Context(),
		request:    ctx,
		cancel:     cancel,
	}
	if isRedirect(resp.StatusCode) {
		_ = resp.Body.Close()
		return nil, &RedirectError{Location: resp.Header.Get("Location")}
	}
	return resp, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// body is the body of a response. The timeout of its request runs on until it is
// closed.
type body struct {
	io.ReadCloser
	raw     io.ReadCloser   // without the bound
	caller  context.Context // tells a cancellation by the caller from a timeout
	request context.Context // the caller's, with the timeout
	cancel  context.CancelFunc
}

// Read reports an end that comes after the time is over as a failure. Giving up
// closes the connection, and a server that notices may end its body properly, so
// that a part would pass for the whole.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	late := b.request.Err()
	switch {
	case err == nil, errors.Is(err, io.EOF) && late == nil:
		return n, err
	case errors.Is(err, io.EOF):
		err = late
	}
	return n, explain(b.caller, err)
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
