package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxURLLength is the longest URL accepted, in characters.
const maxURLLength = 2048

// Bounds of a DNS name (RFC 1035), in bytes.
const (
	maxNameLength  = 253
	maxLabelLength = 63
)

// CheckURL says whether a URL may be used at all, judging its form and the class
// of an IP literal, without any look-up. It returns the URL with an international
// host name in its ASCII form; the fragment, if any, is left alone and never
// sent. The error is an [InvalidURLError] or a [RefusedError].
func (g *Guard) CheckURL(raw string) (*url.URL, error) {
	if utf8.RuneCountInString(raw) > maxURLLength {
		return nil, &InvalidURLError{Reason: "it is longer than 2,048 characters"}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, &InvalidURLError{Reason: "it is not well-formed"}
	}
	return g.checkForm(u)
}

// checkForm is CheckURL for a URL that is parsed already. The result is a copy
// whose Host is put together from the parts that were checked, so that nothing
// further down can read another host out of it.
func (g *Guard) checkForm(u *url.URL) (*url.URL, error) {
	switch {
	case g.of(u.Scheme) == nil:
		return nil, &InvalidURLError{Reason: "it does not start with https://"}
	case u.Opaque != "" || u.Hostname() == "":
		return nil, &InvalidURLError{Reason: "it has no host"}
	case u.User != nil:
		return nil, &InvalidURLError{Reason: "it carries a user name or password"}
	case !validPort(u):
		return nil, &InvalidURLError{Reason: "its port is not between 1 and 65535"}
	}
	host, err := g.of(u.Scheme).checkHostForm(u.Hostname())
	if err != nil {
		return nil, err
	}
	checked := *u
	checked.Host = host
	if port := u.Port(); port != "" {
		checked.Host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		checked.Host = "[" + host + "]"
	}
	return &checked, nil
}

// validPort accepts an absent port but not an empty one ("host:").
func validPort(u *url.URL) bool {
	port := u.Port()
	if port == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return err == nil && number > 0
}

// checkHostForm checks a host without its port and brackets and returns its ASCII
// form. The conversion comes first because it maps full-width digits and dots to
// ASCII ones, which makes an IP literal out of what did not look like one.
func (g *Guard) checkHostForm(host string) (string, error) {
	ascii, err := toASCII(host)
	if err != nil {
		return "", &InvalidURLError{Reason: "its host is not a valid name"}
	}
	if addr, err := netip.ParseAddr(ascii); err == nil {
		return ascii, g.check(addr)
	}
	name := strings.TrimSuffix(ascii, ".")
	switch {
	case endsInNumber(name):
		return "", &InvalidURLError{Reason: "its host is an IP address in an unusual form"}
	case !validName(name):
		return "", &InvalidURLError{Reason: "its host is not a valid name"}
	}
	return ascii, nil
}

// toASCII leaves ASCII hosts alone, as package net/http does: the IDNA rules
// refuse underscores, which do occur in names of hosts.
func toASCII(host string) (string, error) {
	for i := range len(host) {
		if host[i] >= utf8.RuneSelf {
			return idna.Lookup.ToASCII(host)
		}
	}
	return host, nil
}

// endsInNumber says whether a host that is no proper IP literal would still be
// read as IPv4 by inet_aton and its kin (2130706433, 0x7f.1, 0177.0.0.1). It is
// the test of the WHATWG URL standard; no top-level domain is a number.
func endsInNumber(host string) bool {
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// validName says whether name is a DNS name of letters, digits, hyphens and
// underscores, without a final dot.
func validName(name string) bool {
	if len(name) > maxNameLength {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabelLength || strings.ContainsFunc(label, notInNames) {
			return false
		}
	}
	return true
}

func notInNames(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
		return false
	}
	return true
}
