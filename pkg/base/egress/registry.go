package egress

import "net/netip"

// globalUnicast6 is the only part of the IPv6 space that IANA allocates from.
var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// specialBlock is a range of addresses that is not for hosts on the internet.
type specialBlock struct {
	prefix netip.Prefix
	class  Class
}

// specialBlocks are the IANA special-purpose registries for IPv4 and IPv6
// (RFC 6890), the multicast and reserved ranges, and the clouds' metadata
// endpoints. The first block that contains an address gives its class, so the
// narrower ones come first. Blocks that the registries mark globally reachable
// (AS112, AMT, port control) are in it as well: they serve protocols, and no
// customer's web server lives there.
var specialBlocks = []specialBlock{
	// Metadata endpoints, all inside wider blocks except Azure's, which is a
	// public address answered by the hypervisor.
	block("169.254.169.254/32", ClassMetadata), // AWS, GCP, Azure, DigitalOcean, OpenStack
	block("169.254.170.2/32", ClassMetadata),   // AWS container credentials
	block("169.254.170.23/32", ClassMetadata),  // AWS pod identity
	block("168.63.129.16/32", ClassMetadata),   // Azure WireServer
	block("100.100.100.200/32", ClassMetadata), // Alibaba
	block("192.0.0.192/32", ClassMetadata),     // Oracle, classic
	block("fd00:ec2::254/128", ClassMetadata),  // AWS
	block("fd00:ec2::23/128", ClassMetadata),   // AWS pod identity
	block("fd20:ce::254/128", ClassMetadata),   // GCP

	block("0.0.0.0/32", ClassUnspecified),
	block("0.0.0.0/8", ClassThisNetwork),
	block("10.0.0.0/8", ClassPrivate),
	block("100.64.0.0/10", ClassShared),
	block("127.0.0.0/8", ClassLoopback),
	block("169.254.0.0/16", ClassLinkLocal),
	block("172.16.0.0/12", ClassPrivate),
	block("192.0.0.0/24", ClassProtocol),
	block("192.0.2.0/24", ClassDocumentation),
	block("192.31.196.0/24", ClassProtocol), // AS112
	block("192.52.193.0/24", ClassProtocol), // AMT
	block("192.88.99.0/24", ClassTunnel),    // 6to4 relays, deprecated
	block("192.168.0.0/16", ClassPrivate),
	block("192.175.48.0/24", ClassProtocol), // AS112
	block("198.18.0.0/15", ClassBenchmarking),
	block("198.51.100.0/24", ClassDocumentation),
	block("203.0.113.0/24", ClassDocumentation),
	block("224.0.0.0/4", ClassMulticast),
	block("255.255.255.255/32", ClassBroadcast),
	block("240.0.0.0/4", ClassReserved),

	block("::/128", ClassUnspecified),
	block("::1/128", ClassLoopback),
	block("::/96", ClassIPv4Compatible),
	block("::ffff:0:0:0/96", ClassTranslated), // IPv4-translated (RFC 2765)
	block("64:ff9b::/96", ClassTranslated),
	block("64:ff9b:1::/48", ClassTranslated),
	block("100::/64", ClassDiscard),
	block("100:0:0:1::/64", ClassDiscard), // dummy prefix (RFC 9780)
	block("2001::/32", ClassTunnel),       // Teredo
	block("2001:2::/48", ClassBenchmarking),
	block("2001:10::/28", ClassOverlay), // ORCHID
	block("2001:20::/28", ClassOverlay), // ORCHIDv2
	block("2001:30::/28", ClassOverlay), // DRIP entity tags
	block("2001::/23", ClassProtocol),   // the rest of the IETF's block
	block("2001:db8::/32", ClassDocumentation),
	block("2002::/16", ClassTunnel),           // 6to4
	block("2620:4f:8000::/48", ClassProtocol), // AS112
	block("3ffe::/16", ClassReserved),         // 6bone, handed back; old Teredo
	block("3fff::/20", ClassDocumentation),
	block("5f00::/16", ClassSegmentRouting),
	block("fc00::/7", ClassPrivate),
	block("fe80::/10", ClassLinkLocal),
	block("fec0::/10", ClassSiteLocal),
	block("ff00::/8", ClassMulticast),
}

func block(prefix string, class Class) specialBlock {
	return specialBlock{prefix: netip.MustParsePrefix(prefix), class: class}
}
