package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Phrase is a text as it is compared word for word: in one case, without accents,
// with numbers in one form ([Terms] says which; "1.000,50" is 1000.50), and without
// the signs between words. Letters and digits that touch are apart, so that "10kg"
// is "10 kg"; of a script that puts no spaces between words each character stands
// alone. Words are not stemmed: a phrase is what was said, not what it was about.
type Phrase []string

// NewPhrase makes a text a phrase. One without letters, digits and symbols is empty.
func NewPhrase(text string) Phrase {
	a := newAnalyser("")
	folded := unmarked(a.lower(groups.Replace(text)))
	var p Phrase
	for at := 0; at < len(folded); {
		size := piece(folded, at)
		switch text := folded[at : at+size]; {
		case isDigit(text[0]), text[0] == '-' && size > 1:
			p = append(p, numeral(text))
		case wordless(text):
		default:
			p = append(p, text)
		}
		at += size
	}
	return p
}

// Has says whether another phrase's words stand in this one, whole and in a row. An
// empty phrase stands nowhere.
func (p Phrase) Has(other Phrase) bool {
	for at := 0; len(other) > 0 && at+len(other) <= len(p); at++ {
		if slices.Equal(p[at:at+len(other)], other) {
			return true
		}
	}
	return false
}

// groups are spaces that only ever stand inside something, such as a number's
// thousands.
var groups = strings.NewReplacer("\u00a0", "'", "\u2009", "'", "\u202f", "'", "−", "-")

// piece is how many bytes of a text belong together from a place on: a number with
// its sign, a word, a character of a script without spaces, or one of what is
// neither.
func piece(s string, at int) int {
	switch {
	case isDigit(s[at]):
		return digits(s[at:])
	case s[at] == '-' && at+1 < len(s) && isDigit(s[at+1]) && !joinedTo(s[:at]):
		return 1 + digits(s[at+1:])
	}
	first, size := utf8.DecodeRuneInString(s[at:])
	if unspaced(first) || unicode.Is(unicode.Hangul, first) || !unicode.IsLetter(first) {
		return size
	}
	for size < len(s)-at {
		r, more := utf8.DecodeRuneInString(s[at+size:])
		if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) || unspaced(r) || unicode.Is(unicode.Hangul, r) {
			break
		}
		size += more
	}
	return size
}

// joinedTo says whether a dash after a text is no sign: "9-17", "A-113".
func joinedTo(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// digits is how long the number is that a text begins with, with what stands
// between its digits.
func digits(s string) int {
	n := 1
	for n < len(s) {
		switch {
		case isDigit(s[n]):
			n++
		case strings.IndexByte(".,'", s[n]) >= 0 && n+1 < len(s) && isDigit(s[n+1]):
			n += 2
		default:
			return n
		}
	}
	return n
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// wordless says whether a character is only there to be read past: a space, or
// punctuation that changes nothing of what is said.
func wordless(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.M, r), unicode.IsSymbol(r):
		return false
	}
	return !strings.ContainsRune("%#&@", r)
}

// numeral is a number in one form: a point before its fraction, and nothing between
// its thousands, where the two can be told apart.
func numeral(s string) string {
	last := strings.LastIndexAny(s, ".,'")
	if last < 0 {
		return s
	}
	fraction := s[last+1:]
	whole := s[:last]
	if len(fraction) != 3 && strings.ContainsAny(whole, ".,'") && !strings.Contains(whole, s[last:last+1]) {
		// Two kinds of signs: the last is the fraction's, when the others part thousands.
		if joined := number(whole); !strings.Contains(joined, ".") {
			return joined + "." + fraction
		}
	}
	return number(s)
}
