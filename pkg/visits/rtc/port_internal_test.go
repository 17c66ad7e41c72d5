package rtc

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	testingclock "k8s.io/utils/clock/testing"
)

func loopback(t *testing.T) *net.UDPConn {
	t.Helper()
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = udp.Close() })
	return udp
}

// arrived counts what came to a port that begins like a check; the last packet does not.
func arrived(t *testing.T, at *net.UDPConn) (checks int) {
	t.Helper()
	require.NoError(t, at.SetReadDeadline(time.Now().Add(10*time.Second)))
	for buffer := make([]byte, 1500); ; checks++ {
		n, err := at.Read(buffer)
		require.NoError(t, err)
		if !isCheck(buffer[:n]) {
			return checks
		}
	}
}

// One address is sent few checks, whoever asks for them; others, and what is no check, are not held up.
func TestChecksAreBounded(t *testing.T) {
	now := testingclock.NewFakeClock(time.Unix(1_700_000_000, 0))
	p, err := newPort(loopback(t), now)
	require.NoError(t, err)
	check := append([]byte{1, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42}, make([]byte, 12)...)
	victim, other := loopback(t), loopback(t)
	send := func(to *net.UDPConn, times int) int {
		t.Helper()
		at := to.LocalAddr().(*net.UDPAddr)
		for n := range times {
			if n%2 == 0 {
				_, err = p.WriteTo(check, at)
			} else { // as a socket of both families has it
				_, err = p.WriteToAddrPort(check, netip.AddrPortFrom(netip.AddrFrom4(at.AddrPort().Addr().As4()), at.AddrPort().Port()))
			}
			require.NoError(t, err)
		}
		_, err := p.WriteTo([]byte{128}, at)
		require.NoError(t, err)
		return arrived(t, to)
	}
	require.Equal(t, checksAtOnce, send(victim, 200))
	require.Equal(t, 3, send(other, 3))
	now.Step(time.Second)
	require.Equal(t, checksPerSecond, send(victim, 200))
}
