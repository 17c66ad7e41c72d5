package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"visavis.dev/pkg/provider/upstream"
)

const (
	// maxExchanges bounds the requests of a session, whatever the server has the library do.
	maxExchanges = 30
	// closesWithin bounds the farewell to a server that kept a session: an answer waits for it.
	closesWithin = time.Second
)

// exchange makes the requests of a session: it gives them the secret, bounds them, and
// remembers how the last of our own went, since the library's errors do not tell. How the
// answers to what the server asks went is not remembered: a secret that is refused there says
// nothing of a tool that was used, and must not have it used again.
type exchange struct {
	client Client
	// ctx bounds the requests: the library makes some that the caller's would not.
	ctx context.Context //nolint:containedctx // a session is one call

	mu     sync.Mutex
	made   int
	asked  string // what was asked for last
	failed error
}

var errTooMany = errors.New("the server has too much asked")

// RoundTrip implements http.RoundTripper.
func (e *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	method := methodOf(r)
	if !e.admit() {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, e.note(method, &upstream.Error{Code: upstream.Malformed, Err: errTooMany})
	}
	ctx, cancel := e.bound(r)
	r = r.Clone(ctx)
	switch c := e.client; {
	case c.Secret == "":
	case c.Header == "":
		r.Header.Set("Authorization", "Bearer "+c.Secret)
	default:
		r.Header.Set(c.Header, c.Secret)
	}
	resp, err := e.client.HTTP.Transport.RoundTrip(r)
	if err != nil {
		cancel()
		_ = e.note(method, upstream.FromRequest(err))
		return nil, err
	}
	_ = e.note(method, upstream.CheckStatus(resp))
	resp.Body = &watched{resp.Body, e, method, cancel}
	return resp, nil
}

// bound ends a request with the session, and the farewell a little later at most.
func (e *exchange) bound(r *http.Request) (context.Context, context.CancelFunc) {
	if r.Method == http.MethodDelete {
		return context.WithTimeout(r.Context(), closesWithin)
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(e.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (e *exchange) admit() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made++
	return e.made <= maxExchanges
}

// methodOf is what a request asks for; empty where it answers, or only ends the session.
func methodOf(r *http.Request) string {
	if r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	var message struct {
		Method string `json:"method"`
	}
	if err := json.NewDecoder(body).Decode(&message); err != nil {
		return ""
	}
	return message.Method
}

// note remembers how the last exchange that asks for something went.
func (e *exchange) note(method string, err error) error {
	if method == "" {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked, e.failed = method, err
	return err
}

func (e *exchange) last() (method string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if upstream.CodeOf(e.failed) == "" {
		return e.asked, nil
	}
	return e.asked, e.failed
}

// watched is the body of an answer, whose failure is remembered.
type watched struct {
	io.ReadCloser
	exchange *exchange
	method   string
	cancel   context.CancelFunc
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		_ = w.exchange.note(w.method, upstream.FromBody(err))
	}
	return n, err
}

// Close implements io.Closer.
func (w *watched) Close() error {
	defer w.cancel()
	return w.ReadCloser.Close()
}
