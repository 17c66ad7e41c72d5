package widget

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// ParseOrigin reads an allowed origin: https with a host, or with *. before one
// for every host below it; http only for localhost. It answers its form in an
// Origin header, and false for what is none.
func ParseOrigin(s string) (string, bool) {
	u, err := url.Parse(strings.ToLower(s))
	if err != nil || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Path != "" && u.Path != "/" || u.Opaque != "" {
		return "", false
	}
	host, wild := strings.CutPrefix(u.Hostname(), "*.")
	local := host == "localhost" && !wild
	switch {
	case u.Scheme == "http" && local:
	case u.Scheme != "https", !local && !isHost(host):
		return "", false
	}
	if host, err = idna.Lookup.ToASCII(host); err != nil {
		return "", false
	}
	if wild {
		host = "*." + host
	}
	if port := u.Port(); port != "" && port != map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		host = net.JoinHostPort(host, port)
	}
	return u.Scheme + "://" + host, true
}

// isHost says whether a host is a name of the public kind: not an address, and
// of two labels at least, so that *.com of it is never meant.
func isHost(host string) bool {
	ascii, err := idna.Lookup.ToASCII(host)
	return err == nil && net.ParseIP(host) == nil && strings.Contains(strings.Trim(ascii, "."), ".") && !strings.HasSuffix(ascii, ".")
}

// Allows says whether a page of an origin may show the widget. origin is what
// a browser sends.
func (d *Definition) Allows(origin string) bool {
	return origin != "" && slices.ContainsFunc(d.AllowedOrigins, func(allowed string) bool { return covers(allowed, origin) })
}

func covers(allowed, origin string) bool {
	before, below, wild := strings.Cut(allowed, "*.")
	if wild {
		u, err := url.Parse(origin)
		rest, ok := strings.CutPrefix(origin, before)
		return err == nil && u.Scheme+"://"+u.Host == origin && ok && strings.HasSuffix(rest, "."+below) && len(rest) > len(below)+1
	}
	if allowed == "http://localhost" { // of any port
		port, ok := strings.CutPrefix(origin, allowed)
		return ok && (port == "" || strings.HasPrefix(port, ":"))
	}
	return allowed == origin
}
