package egress

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// Bounds of what is read of a reply's body. Nobody looks at it: reading it to its
// end is what lets the connection be used again, and these are what that is worth.
const (
	drainSize = 16 << 10
	drainTime = time.Second
)

// Target is a URL that is posted to again and again, such as a webhook's. Its form
// is checked once, its host before every attempt. It is safe for concurrent use.
type Target struct {
	guard *Guard
	url   *url.URL // as checked
	name  string   // its host without port and brackets
	port  uint16
	// literal is the answer if the host is an IP literal, which needs no look-up;
	// otherwise nil.
	literal *answer
}

// Reply is what is known of the answer to one attempt.
type Reply struct {
	Status     int    // 101, or 200 to 999; zero if none arrived
	RetryAfter string // the Retry-After header as sent, unverified; empty if there was none
	// Addr is the address that was connected to; the zero Addr if none was. Like
	// [RefusedError.Addr] it is for the operator's log only.
	Addr netip.Addr
}

// Target checks the form of a URL, like CheckURL and with its errors: an
// [InvalidURLError] or a [RefusedError].
func (g *Guard) Target(raw string) (*Target, error) {
	u, err := g.CheckURL(raw)
	if err != nil {
		return nil, err
	}
	port := uint64(443)
	if text := u.Port(); text != "" {
		port, _ = strconv.ParseUint(text, 10, 16) // CheckURL lets no other through
	}
	t := &Target{guard: g, url: u, name: u.Hostname(), port: uint16(port)}
	if addr, err := netip.ParseAddr(t.name); err == nil {
		t.literal = newAnswer(t.name, []netip.Addr{addr})
	}
	return t, nil
}

// Post makes one attempt. It looks the host up and checks every address of the
// answer (which may be as old as [Options.Remember]) even where a connection is
// open, and uses only connections to the addresses of that answer. It takes at most
// [Options.Timeout] until the header of the response is there. From then on the
// attempt has its answer: of the body at most 16 KiB are read, for at most 1 s and
// within the timeout, and no failure of it matters.
//
// Header and body are sent as they are; Host and Content-Length are the target's
// and the body's own. Post adds a User-Agent to a header without one. Neither may
// be changed afterwards or shared with another attempt at the same time: a server
// may answer before it has read everything, and the rest is still being sent then.
//
// A redirect is [ErrRedirect]; every other status makes a Reply without an error.
// The other errors are [RefusedError], [NetworkError], [ErrTimeout] and
// [context.Canceled]. With an error the Reply holds what was known by then: the
// address, if a connection was made, and the status of a redirect.
//
// The request is sent at most once, except that one of which no byte was written,
// since the server had closed the connection by then, is sent over another.
func (t *Target) Post(ctx context.Context, header http.Header, body []byte) (Reply, error) {
	limited, cancel := context.WithTimeout(ctx, t.guard.timeout)
	defer cancel()
	found, err := t.resolve(limited)
	if err != nil {
		return Reply{}, explain(ctx, err)
	}
	a := &attempt{target: t, answer: found}
	resp, err := a.send(a.request(limited, header, body))
	if err != nil {
		return Reply{Addr: a.addr()}, explain(ctx, err)
	}
	drain(resp, cancel)
	reply := Reply{Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After"), Addr: a.addr()}
	if isRedirect(reply.Status) {
		return reply, ErrRedirect
	}
	return reply, nil
}

// resolve returns the addresses an attempt that begins now may use.
func (t *Target) resolve(ctx context.Context) (*answer, error) {
	if t.literal != nil {
		return t.literal, nil
	}
	return t.guard.lookups.answer(ctx, t.name)
}

// drain reads a body to its end, if that is near, and closes it. A connection
// whose body was not read to the end is dropped. abandon ends the exchange.
func drain(resp *http.Response, abandon context.CancelFunc) {
	defer resp.Body.Close()
	if resp.ContentLength == 0 || resp.ContentLength > drainSize {
		return
	}
	timer := time.AfterFunc(drainTime, abandon)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, drainSize)
}
