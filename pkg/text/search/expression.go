package search

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortStem is how many letters a stem has that several words have in common by chance.
const shortStem = 3

// at is the longest expression that terms begin with, and how many of them it takes. A single word means what the nearest
// words with its stem do: Spanish "plazas" are no "plazos". With a short stem it must be the
// lexicon's as it is written: "dan" is not "daño".
func (v *wording) at(terms []Term, text string) (expression, int) {
	for _, e := range v.phrases[terms[0].Text] {
		n := v.spans(e.terms, terms)
		if n == 0 {
			continue
		}
		if len(e.terms) == 1 {
			word := strings.TrimSuffix(strings.TrimSuffix(Fold(text[terms[0].From:terms[0].To]), "'s"), "’s")
			concepts := v.words[word]
			if utf8.RuneCountInString(e.terms[0]) > shortStem {
				concepts = v.alike(word, e.terms[0])
			}
			if concepts == nil {
				n = 0
			}
			return expression{terms: e.terms, concepts: concepts}, n
		}
		return e, n
	}
	return expression{}, 0
}

// alike are the concepts of the words with a stem that another such word only has another
// ending of, or is that; where there are none, of those that have the longest beginning in
// common, and then the nearest length.
func (v *wording) alike(word, stem string) (concepts []int) {
	for _, known := range v.byStem[stem] {
		if strings.HasPrefix(known, word) || strings.HasPrefix(word, known) {
			concepts = union(concepts, v.words[known])
		}
	}
	if concepts != nil {
		return concepts
	}
	best := math.MinInt
	for _, known := range v.byStem[stem] {
		n := 0
		for n < min(len(known), len(word)) && known[n] == word[n] {
			n++
		}
		near := n<<8 - max(len(known)-len(word), len(word)-len(known))
		switch {
		case near > best:
			best, concepts = near, slices.Clone(v.words[known])
		case near == best:
			concepts = union(concepts, v.words[known])
		}
	}
	return concepts
}

func matches(texts []string, terms []Term) bool {
	for i, text := range texts {
		if terms[i].Text != text {
			return false
		}
	}
	return true
}

// inWord is what a word means that no phrase begins with: in another form, as a
// compound, or misspelled.
func (v *wording) inWord(word string, stop, forgiving bool) ([]int, float64) {
	n := utf8.RuneCountInString(word)
	if n < 4 {
		return nil, 0
	}
	if concepts := v.words[word]; concepts != nil {
		return concepts, 1
	}
	if stop {
		return nil, 0
	}
	if concepts := v.inflected(word); concepts != nil {
		return concepts, sureCompound
	}
	if compounding[v.language] {
		if concepts := v.compound(word); concepts != nil {
			return concepts, sureCompound
		}
	}
	if forgiving {
		return v.misspelled(word, n), SureMisspelled
	}
	return nil, 0
}

// compounding are the languages that write compounds as one word.
var compounding = map[string]bool{"de": true, "nl": true, "sv": true, "da": true, "no": true}

// unstemmed are the languages that inflect and have no stemmer here, with how many
// letters an ending has at most.
var unstemmed = map[string]int{"ar": 3, "tr": 5, "uk": 3, "cs": 3}

// inflected is what a word of a language without a stemmer means: the word of the
// lexicon with which it shares all but the ending.
func (v *wording) inflected(word string) []int {
	ending := unstemmed[v.language]
	if ending == 0 {
		return nil
	}
	letters := []rune(bareArabic(word))
	for cut := 0; cut <= ending && len(letters)-cut >= 4; cut++ {
		root := string(letters[:len(letters)-cut])
		for length := len(letters) - cut; length <= len(letters)-cut+ending; length++ {
			for _, known := range v.byLength[length] {
				if strings.HasPrefix(bareArabic(known), root) {
					return v.words[known]
				}
			}
		}
	}
	return nil
}

// bareArabic is an Arabic word without the article and the particles written with it.
func bareArabic(word string) string {
	if first, _ := utf8.DecodeRuneInString(word); !unicode.Is(unicode.Arabic, first) {
		return word
	}
	for _, prefix := range []string{"وال", "بال", "لل", "كال", "فال", "ال"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok && utf8.RuneCountInString(rest) >= 3 {
			return rest
		}
	}
	return word
}

// leastModifier is how many letters a compound's first part has at least whose last part means
// nothing: "überall" has nothing to do with Uber.
const leastModifier = 5

// compound is what the parts of a compound mean: the longest word it ends in and the
// longest it begins with.
func (v *wording) compound(word string) []int {
	modifier, head := v.partsOf(word)
	return append(slices.Clone(head), modifier...)
}

// compounded is how many parts of a compound mean something.
func (v *wording) compounded(word string) int {
	switch modifier, head := v.partsOf(word); {
	case modifier != nil && head != nil:
		return 2
	case modifier != nil || head != nil:
		return 1
	}
	return 0
}

// partsOf are the concepts of a compound's first part and of its last, which it is one of.
func (v *wording) partsOf(word string) (modifier, head []int) {
	for cut := 3; cut <= len(word)-4; cut++ {
		if head = v.words[word[cut:]]; head != nil {
			break
		}
	}
	shortest := 4
	if head == nil {
		shortest = leastModifier
	}
	for cut := len(word) - 3; cut >= shortest; cut-- {
		if modifier = v.words[word[:cut]]; modifier != nil {
			break
		}
	}
	return modifier, head
}

// leastMisspelled is how many letters a word has that may be another misspelled: shorter
// ones are too often words themselves.
const leastMisspelled = 5

// longMisspelled is how many letters a word has that may have two slips and still be no
// other word.
const longMisspelled = 11

// misspelled is what the nearest word of the lexicon means.
func (v *wording) misspelled(word string, n int) []int {
	if v.language == "en" && isEnglish(word) {
		return nil // another word
	}
	if n < leastMisspelled {
		return nil
	}
	most := 1
	if n >= longMisspelled {
		most = slips(n)
	}
	nearest, least := "", float64(most)+0.01
	for length := n - most; length <= n+most; length++ {
		for _, known := range v.byLength[length] {
			if d := slip(word, known, most); d < least {
				nearest, least = known, d
			}
		}
	}
	if nearest == "" {
		return nil
	}
	return v.words[nearest]
}
