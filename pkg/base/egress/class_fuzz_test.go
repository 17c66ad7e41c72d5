package egress_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

// disguises are the ways an IPv4 address can be put into an IPv6 one so that some
// network would take it out again.
var disguises = map[string]func(four [4]byte) netip.Addr{
	"IPv4-compatible": func(four [4]byte) netip.Addr { return last4(four) },
	"IPv4-translated": func(four [4]byte) netip.Addr { return last4(four, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff) },
	"NAT64":           func(four [4]byte) netip.Addr { return last4(four, 0, 0x64, 0xff, 0x9b) },
	"NAT64, local":    func(four [4]byte) netip.Addr { return last4(four, 0, 0x64, 0xff, 0x9b, 0, 1) },
	// RFC 6052 has the address of a /48 around its ninth byte.
	"NAT64, local, split": func(four [4]byte) netip.Addr {
		return netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 0, 1, four[0], four[1], 0, four[2], four[3]})
	},
	"6to4": func(four [4]byte) netip.Addr {
		return netip.AddrFrom16([16]byte{0x20, 0x02, four[0], four[1], four[2], four[3]})
	},
	"Teredo server": func(four [4]byte) netip.Addr {
		return netip.AddrFrom16([16]byte{0x20, 0x01, 0, 0, four[0], four[1], four[2], four[3]})
	},
	"Teredo client": func(four [4]byte) netip.Addr {
		return last4([4]byte{^four[0], ^four[1], ^four[2], ^four[3]}, 0x20, 0x01)
	},
}

// last4 is an address of a beginning and four last bytes.
func last4(four [4]byte, head ...byte) netip.Addr {
	var bytes [16]byte
	copy(bytes[:], head)
	copy(bytes[12:], four[:])
	return netip.AddrFrom16(bytes)
}

func FuzzClassify(f *testing.F) {
	for _, seed := range []string{
		"0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1", "192.0.0.192",
		"168.63.129.16", "8.8.8.8", "1.1.1.1", "224.0.0.1", "255.255.255.255",
	} {
		four := netip.MustParseAddr(seed).As4()
		f.Add(binary.BigEndian.Uint32(four[:]))
	}
	f.Fuzz(func(t *testing.T, number uint32) {
		var four [4]byte
		binary.BigEndian.PutUint32(four[:], number)
		plain := netip.AddrFrom4(four)
		class := egress.Classify(plain)
		mapped := netip.AddrFrom16(plain.As16())
		require.Equal(t, class, egress.Classify(mapped), mapped)
		require.Equal(t, egress.ClassZoned, egress.Classify(mapped.WithZone("eth0")))
		for _, text := range refusedPrefixes {
			if netip.MustParsePrefix(text).Contains(plain) {
				require.NotEqual(t, egress.ClassPublic, class, plain)
			}
		}
		for name, disguise := range disguises {
			require.NotEqual(t, egress.ClassPublic, egress.Classify(disguise(four)), "%s of %s", name, plain)
		}
	})
}
