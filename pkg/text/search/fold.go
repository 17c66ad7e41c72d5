package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longest is how many bytes of a term count; what is longer is no word.
const longest = 64

// apostrophes are what people write for one.
var apostrophes = strings.NewReplacer("’", "'", "ʼ", "'", "＇", "'", "‘", "'")

// lower is a word in NFKC and lower case, with straight apostrophes.
func (a *analyser) lower(s string) string {
	if isASCII(s) {
		if a.language == "tr" {
			return strings.ToLowerSpecial(unicode.TurkishCase, s)
		}
		return strings.ToLower(s)
	}
	s = apostrophes.Replace(norm.NFKC.String(s))
	if a.language == "tr" {
		return strings.ToLowerSpecial(unicode.TurkishCase, s)
	}
	return norm.NFKC.String(a.fold.String(s))
}

// bare letters stand for those that Unicode does not take apart.
var bare = strings.NewReplacer("ß", "ss", "ø", "o", "æ", "ae", "œ", "oe", "đ", "d", "ð", "d", "þ", "th", "ł", "l", "ı", "i", "ħ", "h")

// unmarked is a lower-case word without diacritics and optional vowel points.
// The marks of other scripts, such as those of kana and Devanagari, are
// letters there and stay.
func unmarked(s string) string {
	if isASCII(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x0300 && r <= 0x036F, r >= 0x0591 && r <= 0x05C7, r >= 0x064B && r <= 0x0652:
			return -1
		}
		return r
	}, norm.NFD.String(s))
	return bare.Replace(norm.NFC.String(s))
}

// number is a numeral with a point for its fraction and nothing between its
// thousands: "1,000", "1.000" and "1000" are one, and so are "3,5" and "3.5".
func number(s string) string {
	if !strings.ContainsAny(s, ".,'") {
		return s
	}
	groups := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(".,'", r) })
	thousands := len(groups) > 1 && len(groups[0]) <= 3
	for _, g := range groups[1:] {
		thousands = thousands && len(g) == 3
	}
	if thousands {
		return strings.Join(groups, "")
	}
	return strings.Join(groups, ".")
}

// cut is s shortened to the longest term, at a rune's boundary.
func cut(s string) string { return cutAt(s, longest) }

// cutAt is s shortened to n bytes, at a rune's boundary.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
