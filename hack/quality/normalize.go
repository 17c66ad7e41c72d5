package main

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// letters are those that are written otherwise in the same words, besides accents.
var letters = strings.NewReplacer("ı", "i", "ł", "l", "ø", "o", "đ", "d", "æ", "ae", "œ", "oe", "ß", "ss", "’", "'")

// thousands are set apart by an unbreakable blank or an apostrophe, too.
var thousands = regexp.MustCompile(`(\d)[\x{00a0}\x{202f}'’](\d{3})\b`)

// normalize is a text as facts are compared: without case, accents, punctuation and
// currency signs, its words apart by one blank. Digits are a word of their own, in which
// 9:30 is 9.30 and 1,000 is 1000.
func normalize(text string) string {
	text = thousands.ReplaceAllString(text, "$1$2")
	text = cases.Fold().String(norm.NFKC.String(text))
	text = letters.Replace(norm.NFC.String(strings.Map(unaccented, norm.NFD.String(text))))
	var out strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case unicode.IsDigit(r):
			if i > 0 && isWord(runes[i-1]) && !unicode.IsDigit(runes[i-1]) {
				out.WriteByte(' ')
			}
			out.WriteRune(r)
		case isWord(r):
			if i > 0 && unicode.IsDigit(runes[i-1]) {
				out.WriteByte(' ')
			}
			out.WriteRune(r)
		case strings.ContainsRune(".,:", r) && digitAt(runes, i-1) && digitAt(runes, i+1):
			if !groups(runes, i) {
				out.WriteByte('.')
			}
		default:
			out.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// unaccented leaves out the accents of letters that are the same without: not the
// marks of Japanese, Thai and Indian scripts, which make others of them. Digits of
// Arabic and Persian are the same as others.
func unaccented(r rune) rune {
	switch {
	case r >= 0x660 && r <= 0x669:
		return '0' + r - 0x660
	case r >= 0x6f0 && r <= 0x6f9:
		return '0' + r - 0x6f0
	case r >= 0x300 && r <= 0x36f || r >= 0x64b && r <= 0x65f || r == 0x670:
		return -1
	}
	return r
}

// isWord says whether a character is of a word: a letter, a digit or a mark.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func digitAt(runes []rune, i int) bool { return i >= 0 && i < len(runes) && unicode.IsDigit(runes[i]) }

// groups says whether the point or comma at i sets thousands apart: exactly three
// digits follow, and one to three come before that are not a zero alone. A colon never does.
func groups(runes []rune, i int) bool {
	before, after := 0, 0
	for before < 4 && digitAt(runes, i-1-before) {
		before++
	}
	for after < 4 && digitAt(runes, i+1+after) {
		after++
	}
	return runes[i] != ':' && after == 3 && before <= 3 && (before > 1 || runes[i-1] != '0')
}

// holds says whether a normalized text has a normalized fact in it, as whole words.
// Scripts that leave no blanks between words have it anywhere.
func holds(said, wanted string) bool {
	if strings.ContainsFunc(wanted, unspaced) {
		return strings.Contains(strings.ReplaceAll(said, " ", ""), strings.ReplaceAll(wanted, " ", ""))
	}
	return strings.Contains(" "+splitUnspaced(said)+" ", " "+wanted+" ")
}

// unspaced says whether a character is of a script without blanks between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// splitUnspaced parts words of such scripts from the others, so that a Latin name in a
// Japanese sentence is a word.
func splitUnspaced(text string) string {
	var out strings.Builder
	before := false
	for _, r := range text {
		wide := unspaced(r)
		if wide != before {
			out.WriteByte(' ')
		}
		before = wide
		out.WriteRune(r)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}
