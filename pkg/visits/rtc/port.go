package rtc

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/lru"
)

// Bounds of the checks (STUN), and of their answers, that are sent to one address: a browser that
// connects is sent some twenty in a second, and later one every other second. Who proves to be
// a session's client may forge where it is, so that what is answered hits somebody else.
const (
	checksPerSecond, checksAtOnce = 10, 50
	// maxCounted bounds the addresses whose checks are counted. Where there are more, those
	// that came first are forgotten.
	maxCounted = 1 << 14
)

// port is the UDP port as pion has it: checks beyond the bounds are not sent.
type port struct {
	*net.UDPConn
	clock  clock.PassiveClock
	checks lru.Cache[netip.AddrPort, *rate.Limiter]
}

func newPort(udp *net.UDPConn, c clock.PassiveClock) (*port, error) {
	checks, err := lru.New[netip.AddrPort, *rate.Limiter](maxCounted)
	return &port{udp, c, checks}, err
}

// ReadFromAddrPort implements ice.AddrPortReaderWriter.
func (p *port) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	return p.ReadFromUDPAddrPort(b)
}

// WriteToAddrPort implements ice.AddrPortReaderWriter.
func (p *port) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	if isCheck(b) && !p.mayCheck(to) {
		return len(b), nil // as if it was lost on the way
	}
	return p.WriteToUDPAddrPort(b, to)
}

// WriteTo implements net.PacketConn.
func (p *port) WriteTo(b []byte, to net.Addr) (int, error) {
	if udp, ok := to.(*net.UDPAddr); ok {
		return p.WriteToAddrPort(b, udp.AddrPort())
	}
	return 0, net.InvalidAddrError("it is none of UDP")
}

func (p *port) mayCheck(to netip.AddrPort) bool {
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	limit := rate.NewLimiter(checksPerSecond, checksAtOnce)
	if before, some, _ := p.checks.PeekOrAdd(to, limit); some {
		limit = before
	}
	return limit.AllowN(p.clock.Now(), 1)
}

// isCheck says whether a packet is of STUN (RFC 7983).
func isCheck(b []byte) bool {
	const header, cookie = 20, 0x2112a442
	return len(b) >= header && b[0] < 4 && binary.BigEndian.Uint32(b[4:]) == cookie
}
