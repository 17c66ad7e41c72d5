package egress_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/egress"
)

func TestClassify(t *testing.T) {
	for class, addrs := range map[egress.Class][]string{
		egress.ClassPublic: {
			"1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34",
			"100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17",
			"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255",
			"192.0.1.0", "192.0.3.0", "192.31.195.255", "192.31.197.0", "192.88.98.255", "192.88.100.0",
			"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
			"198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
			"2000::", "2001:200::", "2001:db7:ffff::", "2001:db9::", "2001:4860:4860::8888",
			"2003::", "2606:4700:4700::1111", "2620:4f:7fff:ffff::", "2620:4f:8001::",
			"3ffd:ffff::", "3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:8.8.8.8",
		},
		egress.ClassUnspecified: {"0.0.0.0", "::", "::ffff:0.0.0.0"},
		egress.ClassThisNetwork: {"0.0.0.1", "0.255.255.255"},
		egress.ClassLoopback:    {"127.0.0.0", "127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"},
		egress.ClassPrivate: {
			"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255",
			"::ffff:10.1.2.3", "fc00::", "fd00:ec2::253", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		},
		egress.ClassShared:    {"100.64.0.0", "100.100.100.199", "100.127.255.255"},
		egress.ClassLinkLocal: {"169.254.0.0", "169.254.169.253", "169.254.255.255", "fe80::", "fe80::1", "febf:ffff::"},
		egress.ClassSiteLocal: {"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		egress.ClassMetadata: {
			"169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200",
			"192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "::ffff:169.254.169.254",
		},
		egress.ClassMulticast:     {"224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		egress.ClassBroadcast:     {"255.255.255.255"},
		egress.ClassDocumentation: {"192.0.2.0", "192.0.2.255", "198.51.100.0", "203.0.113.255", "2001:db8::", "2001:db8:ffff::1", "3fff::", "3fff:fff:ffff::"},
		egress.ClassBenchmarking:  {"198.18.0.0", "198.19.255.255", "2001:2::", "2001:2:0:ffff::"},
		egress.ClassProtocol: {
			"192.0.0.0", "192.0.0.10", "192.0.0.255", "192.31.196.1", "192.52.193.1", "192.175.48.1",
			"2001:1::1", "2001:2:1::", "2001:3::", "2001:4:112::", "2001:40::", "2001:1ff:ffff::", "2620:4f:8000::",
		},
		egress.ClassTranslated: {
			"64:ff9b::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::ffff:ffff", "64:ff9b:1::",
			"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "::ffff:0:7f00:1",
		},
		egress.ClassTunnel:         {"192.88.99.1", "2001::", "2001:0:ffff::", "2002::", "2002:7f00:1::", "2002:ffff:ffff::"},
		egress.ClassIPv4Compatible: {"::2", "::127.0.0.1", "::8.8.8.8", "::ffff:ffff"},
		egress.ClassDiscard:        {"100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::1"},
		egress.ClassOverlay:        {"2001:10::", "2001:1f:ffff::", "2001:20::", "2001:2f:ffff::", "2001:30::", "2001:3f:ffff::"},
		egress.ClassSegmentRouting: {"5f00::", "5f00:ffff::1"},
		egress.ClassReserved: {
			"240.0.0.0", "255.255.255.254", "::1:0:0:0", "64:ff9a::", "64:ff9b::1:0:0", "64:ff9b:2::", "100:0:0:2::",
			"200::1", "1fff:ffff::", "3ffe:831f::1", "4000::", "5eff:ffff::", "5f01::", "fbff::", "fe00::", "fe7f:ffff::",
		},
		egress.ClassZoned: {"fe80::1%eth0", "2606:4700:4700::1111%1", "::1%lo", "::ffff:127.0.0.1%lo"},
	} {
		for _, addr := range addrs {
			require.Equal(t, class, egress.Classify(netip.MustParseAddr(addr)), addr)
		}
	}
	require.Equal(t, egress.ClassInvalid, egress.Classify(netip.Addr{}))
}

// refusedPrefixes is written down independently of the package's own table.
var refusedPrefixes = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"::/3", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	"3fff::/20", "4000::/2", "5f00::/16", "8000::/1", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
}

// inPrefix draws an address of a prefix: its own bits, then random ones.
func inPrefix(prefix netip.Prefix) *rapid.Generator[netip.Addr] {
	return rapid.Custom(func(t *rapid.T) netip.Addr {
		bytes := prefix.Masked().Addr().AsSlice()
		random := rapid.SliceOfN(rapid.Byte(), len(bytes), len(bytes)).Draw(t, "bits")
		for i := range bytes {
			own := min(max(prefix.Bits()-8*i, 0), 8)
			bytes[i] |= random[i] & byte(0xff>>own)
		}
		addr, _ := netip.AddrFromSlice(bytes)
		return addr
	})
}

func refusedAddress(version func(netip.Addr) bool) *rapid.Generator[netip.Addr] {
	var generators []*rapid.Generator[netip.Addr]
	for _, text := range refusedPrefixes {
		if prefix := netip.MustParsePrefix(text); version(prefix.Addr()) {
			generators = append(generators, inPrefix(prefix))
		}
	}
	return rapid.OneOf(generators...)
}

func TestEveryAddressOfARefusedPrefixIsRefused(t *testing.T) {
	refused := rapid.OneOf(refusedAddress(netip.Addr.Is4), refusedAddress(netip.Addr.Is6))
	rapid.Check(t, func(t *rapid.T) {
		addr := refused.Draw(t, "address")
		if addr.Is4In6() { // ::/3 contains the mapped addresses, which are judged as IPv4
			t.Skip()
		}
		require.NotEqual(t, egress.ClassPublic, egress.Classify(addr), addr)
	})
}

// Whichever way an IPv4 address is put into an IPv6 one, it must not become more
// reachable than it was.
func TestEmbeddedIPv4IsNotMorePublic(t *testing.T) {
	refused := refusedAddress(netip.Addr.Is4)
	rapid.Check(t, func(t *rapid.T) {
		four := refused.Draw(t, "address").As4()
		tail := func(head ...byte) netip.Addr {
			var bytes [16]byte
			copy(bytes[:], head)
			copy(bytes[12:], four[:])
			return netip.AddrFrom16(bytes)
		}
		mapped := tail(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
		require.Equal(t, egress.Classify(netip.AddrFrom4(four)), egress.Classify(mapped))
		sixToFour := netip.AddrFrom16([16]byte{0x20, 0x02, four[0], four[1], four[2], four[3]})
		for _, addr := range []netip.Addr{mapped, sixToFour, tail(), tail(0, 0x64, 0xff, 0x9b), tail(0x20, 0x01, 0, 0)} {
			require.NotEqual(t, egress.ClassPublic, egress.Classify(addr), addr)
		}
	})
}

func TestAZonedAddressIsNeverPublic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "address")
		addr := netip.AddrFrom16([16]byte(bytes)).WithZone("eth0")
		require.Equal(t, egress.ClassZoned, egress.Classify(addr))
	})
}
