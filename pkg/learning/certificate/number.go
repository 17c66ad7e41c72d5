package certificate

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"strings"

	"visavis.dev/pkg/base/id"
)

// Number is what a certificate is found by: 20 digits that cannot be taken for one another
// (Crockford's base 32), the first 8 of which are the organization's. Whoever knows it may
// learn whether the certificate counts; the other 12 are 60 random bits.
type Number string

// alphabet is Crockford's: I, L, O and U are no digits.
var alphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

const (
	codeBytes   = 5
	codeDigits  = 8
	randomBytes = 8
	digits      = 20
)

// NewNumber makes a number of an organization's certificate.
func NewNumber(org id.Org) Number {
	var random [randomBytes]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends instead
	return Number(CodeOf(org) + alphabet.EncodeToString(random[:])[:digits-codeDigits])
}

// CodeOf is what the numbers of an organization's certificates begin with. It is of the last
// 40 bits of the organization's id, which are random; two can have the same.
func CodeOf(org id.Org) string { return alphabet.EncodeToString(org[len(org)-codeBytes:]) }

// TailOf is the end of the ids of organizations with a code, as the directory knows it;
// ok is false where the code is none.
func TailOf(code string) (tail string, ok bool) {
	raw, err := alphabet.DecodeString(code)
	return hex.EncodeToString(raw), err == nil && len(raw) == codeBytes
}

// ParseNumber reads a number as people write it: in small letters, with hyphens or spaces,
// and with letters in the place of digits that look like them.
func ParseNumber(text string) (Number, bool) {
	if len(text) > 3*digits {
		return "", false
	}
	plain := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
	if len(plain) != digits || strings.Trim(plain, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
		return "", false
	}
	return Number(plain), true
}

// Code is that of the organization.
func (n Number) Code() string { return string(n[:codeDigits]) }

// String is the number as people read it, in groups of four.
func (n Number) String() string {
	var groups []string
	for rest := string(n); rest != ""; {
		size := min(4, len(rest))
		groups, rest = append(groups, rest[:size]), rest[size:]
	}
	return strings.Join(groups, "-")
}
