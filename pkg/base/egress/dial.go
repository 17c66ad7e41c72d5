package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// maxDialed is how many addresses of one host are tried. A DNS answer can hold
// hundreds, and whoever wrote it chooses them.
const maxDialed = 16

var errNoAddress = errors.New("no address in the answer")

// resolve returns the addresses of a host, every one of them checked. A mixed
// answer is refused as a whole: nobody publishes a private address next to a
// public one except to get past a check.
func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := g.lookup(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = errNoAddress
	}
	if err != nil {
		return nil, &NetworkError{Reason: "the host name could not be resolved", Err: err}
	}
	for _, addr := range addrs {
		if err := g.check(addr); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

func (g *Guard) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	return g.resolver.LookupNetIP(ctx, "ip", host)
}

// dialContext connects to a host through its checked addresses. It has the form
// of [net.Dialer.DialContext]. TLS happens above it, with the name of the host.
//
// The transport runs dials under a context without the request's deadline, in
// order to pool a connection that comes too late; so the timeout is set here.
func (g *Guard) dialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	return g.dialAny(ctx, addrs[:min(len(addrs), maxDialed)], uint16(port))
}

// dialAny connects to the first address that answers, trying them in order. Every
// one gets an equal share of the time that is left, so that a dead one does not
// use it up. The error is that of the first address, the one the resolver
// preferred.
func (g *Guard) dialAny(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var first error
	for i, addr := range addrs {
		dialer := net.Dialer{ControlContext: g.control}
		if deadline, ok := ctx.Deadline(); ok {
			dialer.Timeout = time.Until(deadline) / time.Duration(len(addrs)-i)
		}
		// Unmapped because net.Resolver gives IPv4 addresses in their IPv4-mapped
		// form.
		remote := netip.AddrPortFrom(addr.Unmap(), port)
		conn, err := dialer.DialContext(ctx, "tcp", remote.String())
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// control is the last check, on the address the socket is about to connect to. It
// holds even if everything above it is wrong.
func (g *Guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	remote, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Class: ClassInvalid}
	}
	return g.check(remote.Addr())
}
