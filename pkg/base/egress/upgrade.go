package egress

import (
	"net/http"
	"net/netip"
)

// Upgrader returns an HTTP client for requests that are answered with another
// protocol (101), such as those of a WebSocket. They are made as those of [Guard.Client]
// are; once the protocol was switched the connection is the caller's to bound and to
// close. Any other answer has a body that is bounded.
func (g *Guard) Upgrader() *http.Client {
	return &http.Client{Transport: upgrader{g.transport}}
}

type upgrader struct{ *transport }

// RoundTrip implements [http.RoundTripper]. The transport lets go of the request's
// context with the header of a 101, so the timeout ends with it.
func (u upgrader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.send(req, u.maxBody)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	switched := resp.Body.(*body)
	switched.cancel()
	resp.Body = switched.raw
	return resp, nil
}

// CheckAddr refuses an address that is neither public nor allowed by the operator, for
// exchanges that the guard does not make itself. The error is a [RefusedError].
func (g *Guard) CheckAddr(addr netip.Addr) error { return g.check(addr) }
