package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"sync/atomic"
)

// attempt is one [Target.Post] on its way through [http.Transport].
type attempt struct {
	target *Target
	answer *answer
	trace  httptrace.ClientTrace
	used   netip.Addr // of the connection the request was given to
	// dialed is of the last connection made for the attempt. Dialing goes on when
	// the attempt has ended or was given another connection.
	dialed atomic.Pointer[netip.Addr]
}

// attemptKey finds the attempt in the context of its dial.
type attemptKey struct{}

// request makes the attempt's request. Its URL names a pool of connections where
// the host would be, so that the transport finds those and only those that lead to
// the addresses of this answer. The host is in the Host header, and in the dial for
// TLS.
func (a *attempt) request(ctx context.Context, header http.Header, body []byte) *http.Request {
	if header == nil {
		header = make(http.Header)
	}
	if _, ok := header["User-Agent"]; !ok {
		header.Set("User-Agent", userAgent)
	}
	u := *a.target.url
	u.Host = a.answer.pool + ":" + strconv.Itoa(int(a.target.port))
	a.trace.GotConn = func(info httptrace.GotConnInfo) { a.used = remoteAddr(info.Conn) }
	ctx = context.WithValue(ctx, attemptKey{}, a)
	req := &http.Request{
		Method:        http.MethodPost,
		URL:           &u,
		Host:          a.target.url.Host,
		Header:        header,
		ContentLength: int64(len(body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
	req.Body, _ = req.GetBody()
	return req.WithContext(httptrace.WithClientTrace(ctx, &a.trace))
}

// send reports an answer that comes after the time is over as a failure. Giving up
// closes the connection in steps, and a server that notices the first may still
// answer before the last.
func (a *attempt) send(req *http.Request) (*http.Response, error) {
	resp, err := a.target.guard.posts.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// addr is the address that was connected to, if any.
func (a *attempt) addr() netip.Addr {
	if dialed := a.dialed.Load(); !a.used.IsValid() && dialed != nil {
		return *dialed
	}
	return a.used
}

// dialAttempt connects to the host of the attempt in ctx, TLS included. It has the
// form of [http.Transport.DialTLSContext]; the address it is given is the name of
// a pool. Whichever attempt of the same pool gets the connection would have made
// the same.
func (g *Guard) dialAttempt(ctx context.Context, _, _ string) (net.Conn, error) {
	a := ctx.Value(attemptKey{}).(*attempt)
	// As in dialContext, the request's deadline is not in ctx.
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	conn, err := g.dialAny(ctx, a.answer.addrs, a.target.port)
	if err != nil {
		return nil, err
	}
	addr := remoteAddr(conn)
	a.dialed.Store(&addr)
	config := g.tls.Clone()
	config.ServerName = a.target.name
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

func remoteAddr(conn net.Conn) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}
