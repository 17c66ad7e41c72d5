package egress_test

import (
	"encoding/binary"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"

	"visavis.dev/pkg/base/egress"
)

var urlSeeds = []string{
	"https://example.com", "https://example.com/a?b#c", "https://example.com.:65535", "HTTPS://EXAMPLE.com:1/",
	"https://bücher.example/", "https://b%C3%BCcher.example:8443/?q", "https://xn--bcher-kva.example/", "https://faß.example/",
	// User names, and what looks like one.
	"https://a@b:1/", "https://1.1.1.1@127.0.0.1/", "https://1.1.1.1:443@127.0.0.1:80/", "https://@127.0.0.1/",
	"https://1.1.1.1%40127.0.0.1/", "https://1.1.1.1#@127.0.0.1/", "https://1.1.1.1?@127.0.0.1/", "https://1.1.1.1/@127.0.0.1/",
	`https://1.1.1.1\@127.0.0.1/`, `https://1.1.1.1\.127.0.0.1/`, `https:\\127.0.0.1/`, `https:/\127.0.0.1/`,
	"https://1.1.1.1&@127.0.0.1/", "https://1.1.1.1 @127.0.0.1/", "https://1.1.1.1;@127.0.0.1/", "https://[1.1.1.1@127.0.0.1]/",
	// Slashes too many or too few.
	"https:opaque", "https:/127.0.0.1/", "https:///127.0.0.1/", "https:////127.0.0.1", "//127.0.0.1", "https:?//127.0.0.1",
	// IPv4 in every notation.
	"https://127.1", "https://2130706433", "https://017700000001", "https://0x7f000001", "https://0x7f.1", "https://0X7F.0.0.1",
	"https://127.0.0.1.", "https://127.0.0.1..", "https://0177.0.0.1", "https://127.0.1", "https://127.000.000.001", "https://0",
	"https://1.1.1.1.", "https://4294967297", "https://127.0.0.1.example.com", "https://0x", "https://1.0x", "https://08.1",
	"https://1.1.1.1", "https://8.8.8.8:8443",
	// Digits and dots that become ASCII ones.
	"https://１２７.0.0.1", "https://127。0。0。1", "https://127．1", "https://127｡1", "https://①②⑦.0.0.1", "https://ⓛocalhost",
	"https://１２７。1", "https://%EF%BC%91%EF%BC%92%EF%BC%97.1", "https://0ｘ7f.1", "https://𝟙𝟚𝟟.1", "https://²130706433",
	// Percent-encoding.
	"https://%31%32%37.0.0.1", "https://127%2e0.0.1", "https://127.0.0.1%2f.example.com", "https://127.0.0.1%00.example.com",
	"https://example.com%23.evil", "https://example.com%5b", "https://%E3%80%82", "https://a%C2%ADb.example",
	// IPv6, and IPv4 within it.
	"https://[::1]", "https://[::1%25eth0]:443/", "https://[fe80::1%25eth0]", "https://[fe80::1%eth0]", "https://[2606:4700::1111%251]",
	"https://[::ffff:127.0.0.1]", "https://[::ffff:a00:1]/", "https://[::ffff:8.8.8.8]", "https://[::127.0.0.1]",
	"https://[64:ff9b::127.0.0.1]", "https://[64:ff9b::7f00:1]", "https://[64:ff9b:1::7f00:1]", "https://[2002:7f00:1::]",
	"https://[2001:0:7f00:1::]", "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]", "https://[::ffff:0:127.0.0.1]",
	"https://[2606:4700:4700::1111]:444", "https://[0:0:0:0:0:0:0:1]", "https://[::0001]", "https://[::]", "https://[::1].example.com",
	"https://[::1", "https://::1/", "https://[v1.a]/", "https://[[::1]]", "https://[]",
	// Controls, ports and other debris.
	"https://127.0.0.1\t", "ht\ttps://127.0.0.1", "https://exa\nmple.com", " https://127.0.0.1", "https://example.com\x00.evil/",
	"https://example.com:", "https://example.com:0", "https://example.com:+443", "https://example.com:4 43", "https://example.com:443:80",
	"https://example.com:٤٤٣", "https://example.com:0443", "https://.", "https://a..b", "https://-", "https://_", "https://a\u202eb.example",
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range urlSeeds {
		f.Add(seed)
	}
	guard := egress.New(egress.Options{})
	public := egress.New(egress.Options{Resolver: resolvesTo("1.1.1.1")})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := guard.CheckURL(raw)
		if err != nil {
			return
		}
		require.Equal(t, "https", u.Scheme)
		require.Nil(t, u.User)
		requirePlainHost(t, u)
		requirePublicIfNumeric(t, u.Hostname())

		// Whoever takes the text apart by hand arrives at the same host, be it the
		// text that was given or the one that is stored.
		require.Equal(t, u.Host, hostByHand(u.String()))
		name, port := splitByHand(hostByHand(raw))
		require.Equal(t, u.Port(), port)
		require.Equal(t, u.Hostname(), asciiByHand(t, name))

		// What was accepted is accepted again, and means the same.
		again, err := url.Parse(u.String())
		require.NoError(t, err)
		require.Equal(t, u.Host, again.Host)
		require.Equal(t, u.Hostname(), again.Hostname())
		require.NoError(t, public.CheckHost(t.Context(), again))
		if len(u.String()) <= 2048 {
			twice, err := guard.CheckURL(u.String())
			require.NoError(t, err)
			require.Equal(t, u.String(), twice.String())
		}
	})
}

// requirePlainHost allows only what no reader of URLs could take for a delimiter,
// or drop, or decode.
func requirePlainHost(t *testing.T, u *url.URL) {
	t.Helper()
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	name := u.Hostname()
	require.NotEmpty(t, strings.Trim(name, "."))
	host := name
	if strings.Contains(name, ":") {
		require.Empty(t, strings.Trim(name, "0123456789abcdefABCDEF:."))
		host = "[" + name + "]"
	} else {
		require.Empty(t, strings.Trim(name, letters))
		require.Less(t, len(name), 255)
		require.NotContains(t, name, "..")
	}
	if port := u.Port(); port != "" {
		number, err := strconv.Atoi(port)
		require.NoError(t, err)
		require.Positive(t, number)
		require.Less(t, number, 1<<16)
		host += ":" + port
	}
	require.Equal(t, host, u.Host)
}

// requirePublicIfNumeric reads a host as generously as anybody does.
func requirePublicIfNumeric(t *testing.T, host string) {
	t.Helper()
	if addr, err := netip.ParseAddr(host); err == nil {
		require.Equal(t, egress.ClassPublic, egress.Classify(addr), host)
	}
	for _, text := range []string{host, strings.TrimSuffix(host, ".")} {
		if addr, ok := inetAton(text); ok {
			require.Equal(t, egress.ClassPublic, egress.Classify(addr), host)
		}
	}
}

// inetAton reads IPv4 as the C library and browsers do: one to four numbers,
// decimal, octal or hexadecimal, the last of which fills what is left. A number
// that is too large for its place is cut, as some do.
func inetAton(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		number, ok := cNumber(part)
		switch {
		case !ok:
			return netip.Addr{}, false
		case i == len(parts)-1:
			sum |= number & (1<<(32-8*i) - 1)
		default:
			sum |= (number & 0xff) << (24 - 8*i)
		}
	}
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], uint32(sum))
	return netip.AddrFrom4(four), true
}

func cNumber(text string) (uint64, bool) {
	base, digits := 10, text
	switch lower := strings.ToLower(text); {
	case strings.HasPrefix(lower, "0x"):
		base, digits = 16, lower[2:]
		if digits == "" {
			return 0, true
		}
	case len(text) > 1 && text[0] == '0':
		base, digits = 8, text[1:]
	}
	number, err := strconv.ParseUint(digits, base, 64)
	return number, err == nil
}

// hostByHand is the host and port of a URL, read without a parser.
func hostByHand(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// splitByHand separates a port. The brackets of an address stay.
func splitByHand(host string) (name, port string) {
	end := strings.LastIndexByte(host, ']') + 1
	if colon := strings.IndexByte(host[end:], ':'); colon >= 0 {
		return host[:end+colon], host[end+colon+1:]
	}
	return host, ""
}

// asciiByHand is a host as DNS would be asked for it, or the address in brackets.
func asciiByHand(t *testing.T, host string) string {
	t.Helper()
	if strings.HasPrefix(host, "[") {
		return strings.Trim(host, "[]")
	}
	name, err := url.PathUnescape(host)
	require.NoError(t, err)
	if isASCII(name) {
		return name
	}
	ascii, err := idna.Lookup.ToASCII(name)
	require.NoError(t, err)
	return ascii
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f })
}
