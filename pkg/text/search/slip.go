package search

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// slips is how many slips of the finger a word of so many letters is forgiven.
func slips(letters int) int {
	switch {
	case letters < 4:
		return 0
	case letters < 8:
		return 1
	default:
		return 2
	}
}

// What slips count: a letter too many or too few and two that changed places are
// more often slips than a letter for another, which may be another word.
const (
	slipMissing  = 0.9
	slipSwapped  = 0.6
	slipReplaced = 1
	slipDoubled  = 0.5
)

// slip is how far two words are apart in slips of the finger, more than most where
// they are further. The first letter is right, or changed places with the second.
func slip(a, b string, most int) float64 {
	x, y := []rune(a), []rune(b)
	if a != b && (len(x) == 0 || len(y) == 0 || x[0] != y[0] && (len(x) < 2 || len(y) < 2 || x[0] != y[1] || x[1] != y[0])) {
		return float64(most) + 1
	}
	return slipsBetween(x, y, most)
}

// slipsBetween is how far two words are apart in slips, wherever these are; more than most where
// they are further.
func slipsBetween(x, y []rune, most int) float64 {
	if len(x) == 0 || len(y) == 0 || len(x) > longest || len(y) > longest || leastSlips(x, y) > float64(most) {
		return float64(most) + 1
	}
	return distance(x, y, most)
}

// leastSlips is less than two words are apart in slips, or as much, by what is quickly seen: their lengths and their letters.
func leastSlips(x, y []rune) float64 {
	differ := bits.OnesCount64(lettersOf(x) ^ lettersOf(y))
	return max(slipDoubled*float64(max(len(x)-len(y), len(y)-len(x))), soundsAlike/2*float64(differ)) // a letter for another is two that differ
}

// lettersOf is the set of a word's letters, where some share a place.
func lettersOf(word []rune) (set uint64) {
	for _, r := range word {
		set |= 1 << (r & 63)
	}
	return set
}

// distance is how far two words are apart in slips, by each way from one to the other.
func distance(x, y []rune, most int) float64 {
	far := float64(most) + 1
	var rows [3][longest + 1]float64
	before, last, row := rows[0][:len(y)+1], rows[1][:len(y)+1], rows[2][:len(y)+1]
	for j := range last {
		last[j] = float64(j) * slipMissing
	}
	for i := 1; i <= len(x); i++ {
		row[0] = float64(i) * slipMissing
		least := row[0]
		for j := 1; j <= len(y); j++ {
			row[j] = min(last[j]+dropped(x, i), row[j-1]+dropped(y, j))
			if x[i-1] == y[j-1] {
				row[j] = min(row[j], last[j-1])
			} else {
				row[j] = min(row[j], last[j-1]+alike(x[i-1], y[j-1]))
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+slipSwapped)
			}
			least = min(least, row[j])
		}
		if least > float64(most) {
			return far
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// Misheard says whether a word may be another as it was understood by ear, with so many
// slips at most. Unlike a typed word's, its first letter may be one that sounds alike; that
// of a long word may be lost, as where the sound began late.
func Misheard(a, b string, most int) bool {
	x, y := []rune(a), []rune(b)
	if len(x) == 0 || len(y) == 0 || slipsBetween(x, y, most) > float64(most) {
		return false
	}
	if x[0] == y[0] || alike(x[0], y[0]) == soundsAlike {
		return true
	}
	if len(x) < len(y) {
		x, y = y, x
	}
	return len(x) >= longWord && x[1] == y[0]
}

// longWord is how many letters a word has that is known by the rest of them.
const longWord = 6

// What a letter for another counts that sounds like it or lies beside it on keyboards.
const (
	soundsAlike = 0.7
	liesBeside  = 0.85
)

// sounds are letters that are taken for each other by ear, and rows those beside each other
// on keyboards.
var (
	sounds = []string{"aeiouy", "ckq", "csz", "vfw", "bp", "dt", "gj", "iyj", "mn", "xs"}
	rows   = []string{"qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn"}
)

// alike is what one letter for another counts.
func alike(a, b rune) float64 {
	if x, y := a-'a', b-'a'; 0 <= x && x < latin && 0 <= y && y < latin {
		return alikeLetters[x][y]
	}
	return slipReplaced // no other letters are listed
}

// latin is how many letters of ASCII there are.
const latin = 26

var alikeLetters = func() (all [latin][latin]float64) {
	for x := range rune(latin) {
		for y := range rune(latin) {
			all[x][y] = listedAlike('a'+x, 'a'+y)
		}
	}
	return all
}()

func listedAlike(a, b rune) float64 {
	for _, some := range sounds {
		if strings.ContainsRune(some, a) && strings.ContainsRune(some, b) {
			return soundsAlike
		}
	}
	for _, row := range rows {
		if at := strings.IndexRune(row, a); at >= 0 && (at > 0 && rune(row[at-1]) == b || at+1 < len(row) && rune(row[at+1]) == b) {
			return liesBeside
		}
	}
	return slipReplaced
}

// dropped is what a letter that only one of two words has counts.
func dropped(word []rune, n int) float64 {
	if n > 1 && word[n-1] == word[n-2] {
		return slipDoubled
	}
	return slipMissing
}

// Likeness is how far a word of a question may be one of a text though they differ:
// by an ending, by a part of a compound, or by a slip of the finger. It is from 0 to 1;
// both are in lower case without diacritics.
func Likeness(language, asked, held string) float64 {
	language = base(language)
	n, m := utf8.RuneCountInString(asked), utf8.RuneCountInString(held)
	if n < 4 || m < 3 {
		return 0
	}
	if asked == held {
		return 1
	}
	if ending := unstemmed[language]; ending > 0 && shares(bareArabic(asked), bareArabic(held), ending) {
		return likeInflected
	}
	if compounding[language] && min(n, m) >= 5 && partOf(asked, held) {
		return likeCompound
	}
	if most := slips(min(n, m+1)); most > 0 && max(n-m, m-n) <= most {
		if d := slip(asked, held, most); d <= float64(most) {
			return likeMisspelled - 0.2*max(0, d-slipSwapped)
		}
	}
	return 0
}

const (
	likeInflected  = 0.9
	likeCompound   = 0.75
	likeMisspelled = 0.85
)

// shares says whether two words differ in their endings only.
func shares(a, b string, ending int) bool {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n >= 4 && len(x)-n <= ending && len(y)-n <= ending
}

// partOf says whether one of two words begins or ends with the other.
func partOf(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	return slices.Equal(y[:len(x)], x) || slices.Equal(y[len(y)-len(x):], x)
}

// Fold is a word in lower case without diacritics, as words are compared.
func Fold(word string) string { return unmarked(newAnalyser("").lower(word)) }

// Nearest is the one of some words, by how many letters they have, that a word is
// likely to be a slip of; the word itself where there is none, or it is one of them.
func Nearest(word string, known map[int][]string) string {
	n := utf8.RuneCountInString(word)
	most := slips(n)
	nearest, least := word, float64(most)+0.01
	if most == 0 || slices.Contains(known[n], word) {
		return word
	}
	for length := n - most; length <= n+most; length++ {
		for _, other := range known[length] {
			if d := slip(word, other, most); d < least {
				nearest, least = other, d
			}
		}
	}
	return nearest
}
