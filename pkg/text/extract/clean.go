package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// clean makes one line of text fit to keep: valid UTF-8 in NFC, no control or
// invisible characters, every run of space one space, none at the ends.
func clean(s string) string {
	s = norm.NFC.String(strings.ToValidUTF8(s, ""))
	var out strings.Builder
	out.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
		case invisible(r):
		default:
			if space && out.Len() > 0 {
				out.WriteByte(' ')
			}
			space = false
			out.WriteRune(r)
		}
	}
	return out.String()
}

// invisible holds for what shows nothing and only breaks a search: controls, the
// soft hyphen, the zero-width space, byte order marks, replacement characters and
// code points that mean nothing outside one font. Joiners stay: some scripts need
// them.
func invisible(r rune) bool {
	switch r {
	case '\u00ad', '\u200b', '\u2060', '\ufeff', unicode.ReplacementChar:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Noncharacter_Code_Point, r)
}
