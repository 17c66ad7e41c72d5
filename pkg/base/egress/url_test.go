package egress_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

func TestCheckURLAccepts(t *testing.T) {
	guard := egress.New(egress.Options{})
	for raw, host := range map[string]string{
		"https://example.com":                              "example.com",
		"HTTPS://example.com/a.png?size=2#top":             "example.com",
		"https://example.com:8443/":                        "example.com:8443",
		"https://example.com:65535/":                       "example.com:65535",
		"https://example.com./":                            "example.com.",
		"https://my_host.r3---sn.example/":                 "my_host.r3---sn.example",
		"https://0xcafe.example/":                          "0xcafe.example",
		"https://a.0xg/":                                   "a.0xg",
		"https://8.8.8.8/":                                 "8.8.8.8",
		"https://[2606:4700:4700::1111]/":                  "[2606:4700:4700::1111]",
		"https://[2606:4700:4700::1111]:444/":              "[2606:4700:4700::1111]:444",
		"https://bücher.example:444/":                      "xn--bcher-kva.example:444",
		"https://b%C3%BCcher.example/":                     "xn--bcher-kva.example",
		"https://example.com/" + strings.Repeat("ä", 2028): "example.com",
	} {
		u, err := guard.CheckURL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, host, u.Host, raw)
	}
}

func TestCheckURLRefusesForms(t *testing.T) {
	guard := egress.New(egress.Options{Allow: loopback})
	for raw, reason := range map[string]string{
		"":                                "does not start with https",
		"example.com":                     "does not start with https",
		"//example.com/":                  "does not start with https",
		"http://example.com/":             "does not start with https",
		"file:///etc/passwd":              "does not start with https",
		"https:":                          "no host",
		"https:example.com":               "no host",
		"https:///path":                   "no host",
		"https://:443/":                   "no host",
		"https://user@example.com/":       "user name",
		"https://user:secret@example.com": "user name",
		"https://@example.com/":           "user name",
		"https://example.com:/":           "port",
		"https://example.com:0/":          "port",
		"https://example.com:65536/":      "port",
		"https://example.com:99999999999999999999/":         "port",
		"https://example.com:https/":                        "well-formed",
		"https://example.com\\@127.0.0.1/":                  "well-formed",
		"https://exa mple.com/":                             "well-formed",
		"https://example.com/\n":                            "well-formed",
		"https://%31%32%37.0.0.1/":                          "well-formed",
		"https://[::1":                                      "well-formed",
		"https://[v1.fe80::a]/":                             "",
		"https://[example.com]/":                            "",
		"https://[127.0.0.1]/":                              "",
		"https://./":                                        "valid name",
		"https://a..b/":                                     "valid name",
		"https://exa<mple.com/":                             "valid name",
		"https://" + strings.Repeat("a", 64) + ".example/":  "valid name",
		"https://" + strings.Repeat("a.", 126) + "example/": "valid name",
		"https://xn--\u00fc.example/":                       "valid name",
		"https://2130706433/":                               "unusual form",
		"https://0x7f000001/":                               "unusual form",
		"https://0X7F.1/":                                   "unusual form",
		"https://0x/":                                       "unusual form",
		"https://0177.0.0.1/":                               "unusual form",
		"https://127.1/":                                    "unusual form",
		"https://127.0.0.1./":                               "unusual form",
		"https://1.2.3.256/":                                "unusual form",
		"https://1.2.3.4.5/":                                "unusual form",
		"https://0/":                                        "unusual form",
		"https://127。1/":                                    "unusual form",
		"https://example.com/" + strings.Repeat("a", 2029):  "longer than 2,048",
	} {
		_, err := guard.CheckURL(raw)
		var invalid *egress.InvalidURLError
		require.ErrorAs(t, err, &invalid, raw)
		require.Contains(t, invalid.Reason, reason, raw)
	}
}

func TestCheckURLRefusesLiterals(t *testing.T) {
	guard := egress.New(egress.Options{Allow: []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd01::/16"), netip.MustParsePrefix("fe80::/10"),
	}})
	for raw, class := range map[string]egress.Class{
		"https://127.0.0.1/":                  egress.ClassLoopback,
		"https://１２７.0.0.1/":                  egress.ClassLoopback,
		"https://127。0。0。1/":                  egress.ClassLoopback,
		"https://10.2.0.1:8443/":              egress.ClassPrivate,
		"https://169.254.169.254/latest":      egress.ClassMetadata,
		"https://[::1]/":                      egress.ClassLoopback,
		"https://[::]:443/":                   egress.ClassUnspecified,
		"https://[::ffff:127.0.0.1]/":         egress.ClassLoopback,
		"https://[::127.0.0.1]/":              egress.ClassIPv4Compatible,
		"https://[64:ff9b::7f00:1]/":          egress.ClassTranslated,
		"https://[fe80::1%25eth0]/":           egress.ClassZoned,
		"https://[2606:4700::1111%25eth0]/":   egress.ClassZoned,
		"https://[::ffff:10.1.0.1%25eth0]/":   egress.ClassZoned,
		"https://[fd00:ec2::254]/latest/meta": egress.ClassMetadata,
	} {
		_, err := guard.CheckURL(raw)
		var refused *egress.RefusedError
		require.ErrorAs(t, err, &refused, raw)
		require.Equal(t, class, refused.Class, raw)
		require.True(t, refused.Addr.IsValid())
		require.NotContains(t, err.Error(), refused.Addr.String())
	}
	for _, raw := range []string{"https://10.1.2.3/", "https://[::ffff:10.1.2.3]/", "https://[fd01::1]/", "https://[fe80::1]/"} {
		_, err := guard.CheckURL(raw)
		require.NoError(t, err, raw)
	}
}

// A request built by hand is judged by the same rules as a text.
func TestClientChecksTheForm(t *testing.T) {
	client := egress.New(egress.Options{Resolver: resolvesTo("127.0.0.1")}).Client()
	for _, u := range []*url.URL{
		{Scheme: "http", Host: "example.com"},
		{Scheme: "https", Host: "example.com", User: url.User("user")},
		{Scheme: "https", Host: "example.com", Opaque: "//127.0.0.1/"},
		{Scheme: "https", Host: "example.com/@127.0.0.1"},
		{Scheme: "https", Host: "example.com:port"},
		{Scheme: "https", Host: "0177.0.0.1"},
	} {
		closed := &closeRecorder{Reader: strings.NewReader("{}")}
		request := (&http.Request{Method: http.MethodPost, URL: u, Body: closed}).WithContext(t.Context())
		_, err := client.Do(request)
		var invalid *egress.InvalidURLError
		require.ErrorAs(t, err, &invalid, u)
		require.True(t, closed.closed, "the body of a refused request is closed")
	}
}

type closeRecorder struct {
	*strings.Reader
	closed bool
}

func (c *closeRecorder) Close() error {
	c.closed = true
	return nil
}

// A name that can never be public is not stored, whether it is found now or not, unless an
// operator lets private addresses through.
func TestLocalNames(t *testing.T) {
	nobody := names{}
	closed := egress.New(egress.Options{Resolver: nobody})
	open := egress.New(egress.Options{Resolver: nobody, Allow: loopback})
	for _, address := range []string{"https://localhost./", "https://sub.localhost/x", "https://printer.LOCAL/", "https://a.internal/", "https://nas.home.arpa/"} {
		var invalid *egress.InvalidURLError
		require.ErrorAs(t, closed.CheckAddress(t.Context(), address), &invalid, address)
		require.NoError(t, open.CheckAddress(t.Context(), address), address)
	}
	require.NoError(t, closed.CheckAddress(t.Context(), "https://local.example.com/"))
}
