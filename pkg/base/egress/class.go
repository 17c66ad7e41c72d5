package egress

import "net/netip"

// Class says what an IP address is for. Only [ClassPublic] is reachable without
// an operator's leave.
type Class string

// The classes an address can have. The texts are stable and fit for customers.
const (
	ClassPublic         Class = "public"              // global unicast, the open internet
	ClassInvalid        Class = "invalid"             // not an address at all
	ClassZoned          Class = "zoned"               // bound to an interface, as in fe80::1%eth0
	ClassUnspecified    Class = "unspecified"         // 0.0.0.0 and ::, which reach this host
	ClassThisNetwork    Class = "this network"        // the rest of 0.0.0.0/8
	ClassLoopback       Class = "loopback"            // 127.0.0.0/8 and ::1
	ClassPrivate        Class = "private"             // RFC 1918 and unique local (RFC 4193)
	ClassShared         Class = "shared"              // carrier-grade NAT (RFC 6598)
	ClassLinkLocal      Class = "link-local"          // 169.254.0.0/16 and fe80::/10
	ClassSiteLocal      Class = "site-local"          // fec0::/10, deprecated but still routed by some
	ClassMetadata       Class = "cloud metadata"      // a cloud's instance credentials
	ClassMulticast      Class = "multicast"           // many receivers
	ClassBroadcast      Class = "broadcast"           // 255.255.255.255
	ClassDocumentation  Class = "documentation"       // examples in texts
	ClassBenchmarking   Class = "benchmarking"        // test laboratories
	ClassProtocol       Class = "protocol assignment" // blocks the IETF keeps for its protocols
	ClassTranslated     Class = "translated"          // NAT64: an IPv4 address in disguise
	ClassTunnel         Class = "tunnel"              // 6to4 and Teredo: likewise
	ClassIPv4Compatible Class = "IPv4-compatible"     // ::a.b.c.d, likewise
	ClassDiscard        Class = "discard"             // 100::/64 and its neighbours, black holes
	ClassOverlay        Class = "overlay"             // ORCHID and DRIP identifiers, not locators
	ClassSegmentRouting Class = "segment routing"     // SRv6 SIDs
	ClassReserved       Class = "reserved"            // everything not allocated to anybody
)

// Classify says what addr is for. An IPv4-mapped IPv6 address is the IPv4 address
// it carries, since that is where the kernel sends the packets. An address with a
// zone is [ClassZoned] whatever it is otherwise.
func Classify(addr netip.Addr) Class {
	switch {
	case !addr.IsValid():
		return ClassInvalid
	case addr.Zone() != "":
		// Before Unmap, which drops the zone, and before any Prefix.Contains,
		// which is false for every zoned address.
		return ClassZoned
	}
	addr = addr.Unmap()
	for _, block := range specialBlocks {
		if block.prefix.Contains(addr) {
			return block.class
		}
	}
	if addr.Is6() && !globalUnicast6.Contains(addr) {
		return ClassReserved
	}
	return ClassPublic
}
