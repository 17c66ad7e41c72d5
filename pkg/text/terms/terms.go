// Package terms has things found by the beginnings of the words in what they are called,
// each of which is a row. A page of what has one is then a stretch of an index in the order
// of the things, however many they are: no pattern is matched and nothing is sorted.
package terms

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// Letters is how many letters of a word count.
	Letters = 16
	// MaxQueryWords bounds the words of a query that count.
	MaxQueryWords = 8
)

// bare letters stand for those that Unicode does not take apart.
var bare = strings.NewReplacer("ß", "ss", "ø", "o", "æ", "ae", "œ", "oe", "đ", "d", "ð", "d", "þ", "th", "ł", "l", "ı", "i", "ħ", "h", "ς", "σ")

// fold makes alike what people take for the same: letters of either case, with
// their marks or without.
func fold(s string) string {
	lower := strings.ToLower(norm.NFKC.String(s))
	return bare.Replace(norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < firstLetterMark {
			return -1
		}
		return r
	}, norm.NFD.String(lower))))
}

// firstLetterMark is where the marks begin that belong to their letters, such as
// those of Devanagari and kana; before it are those of European scripts and the
// vowel points of Hebrew and Arabic.
const firstLetterMark = 0x0900

// words takes a text apart: where letters and digits end, and between the two.
func words(s string) (all []string) {
	class := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return 1
		case unicode.IsLetter(r), unicode.IsMark(r):
			return 2
		}
		return 0
	}
	start, last := 0, 0
	for i, r := range s {
		now := class(r)
		if now == last {
			continue
		}
		if last != 0 {
			all = append(all, s[start:i])
		}
		start, last = i, now
	}
	if last != 0 {
		all = append(all, s[start:])
	}
	return all
}

// spaceless says whether people write words with a letter without spaces between,
// so that a name begins anywhere in what looks like a word.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Of are the beginnings that a text's first words are found by, in order.
func Of(text string, maxWords int) []string {
	found := []string{}
	all := words(fold(text))
	for _, word := range all[:min(len(all), maxWords)] {
		letters := []rune(word)
		for from := range letters {
			if from > 0 && (from >= Letters || !spaceless(letters[from])) {
				continue
			}
			for to := from + 1; to <= min(from+Letters, len(letters)); to++ {
				found = append(found, string(letters[from:to]))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Query are the terms that whatever is looked for must all have, the longest, which the
// fewest have, first; none where the query has no letters and digits.
func Query(query string) []string {
	all := words(fold(query))
	all = all[:min(len(all), MaxQueryWords)]
	for i, word := range all {
		if letters := []rune(word); len(letters) > Letters {
			all[i] = string(letters[:Letters])
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
