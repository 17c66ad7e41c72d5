package person

import (
	"net/mail"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// The bounds of an address (RFC 5321).
const (
	maxAddress = 254
	maxLocal   = 64
)

// Address reads an e-mail address: as it is shown, and in the form that tells
// two apart, in small letters and with its domain in ASCII. Nobody gives two
// people addresses that differ in case alone, whatever RFC 5321 would allow.
func Address(s string) (shown, key string, ok bool) {
	shown = strings.TrimSpace(s)
	parsed, err := mail.ParseAddress(shown)
	if err != nil || parsed.Address != shown || len(shown) > maxAddress {
		return "", "", false
	}
	at := strings.LastIndexByte(shown, '@')
	domain, err := idna.Lookup.ToASCII(shown[at+1:])
	if err != nil || at > maxLocal || !strings.Contains(domain, ".") {
		return "", "", false
	}
	key = strings.ToLower(shown[:at]) + "@" + strings.ToLower(domain)
	return shown, key, len(key) <= maxAddress
}

var (
	phoneNumber = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	phoneFiller = strings.NewReplacer(" ", "", "-", "", ".", "", "/", "", "(", "", ")", "")
)

// Phone reads a number as E.164 writes it: with its country, such as
// +4930123456. What people put between digits is passed over.
func Phone(s string) (number string, ok bool) {
	number = phoneFiller.Replace(s)
	if rest, international := strings.CutPrefix(number, "00"); international {
		number = "+" + rest
	}
	return number, phoneNumber.MatchString(number)
}
