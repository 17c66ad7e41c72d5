package search

import (
	_ "embed"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/lexicon"
)

// The English list is that of hack/words, in the public domain: words that are not set
// right, as nobody meant another by them.
//
//go:embed words/en.txt
var englishWords string

var englishSet = sync.OnceValue(func() map[string]bool { return set(englishWords) })

// Speller sets right what somebody typed in a hurry: by the words of what they ask about,
// those of the language's lexicon, and those with which it asks. A word that is one of
// them, or of the language otherwise, stays as it is.
type Speller struct {
	usual *usage
	own   map[string]bool
	known map[int][]string // own, by how many letters they have
}

// usage are a language's words by which others are set right: those of the lexicon, stop
// words, and those of asking.
type usage struct {
	language string
	words    map[string]bool
	known    map[int][]string
}

var usages = func() map[string]func() *usage {
	all := map[string]func() *usage{}
	for _, language := range lexicon.Languages() {
		all[language] = sync.OnceValue(func() *usage {
			u := &usage{language: language, words: map[string]bool{}, known: map[int][]string{}}
			for n, words := range vocabularyOf(language).byLength {
				u.known[n] = slices.Clone(words)
			}
			for _, list := range []map[string]bool{stopWords[language], askingWords[language]} {
				for w := range list {
					u.words[w] = true
				}
			}
			for w := range strings.FieldsSeq(more[language]) {
				u.words[Fold(w)] = true
			}
			for _, w := range slices.Sorted(maps.Keys(u.words)) {
				n := utf8.RuneCountInString(w)
				u.known[n] = append(u.known[n], w)
			}
			u.learnPhrases()
			return u
		})
	}
	return all
}()

// learnPhrases takes note of the words of the lexicon's phrases: they are right as they
// are, though no other word is meant to be one of them ("pasado", of "pasado mañana").
func (u *usage) learnPhrases() {
	for _, c := range lexicon.Concepts() {
		for _, phrase := range c.Words[u.language] {
			if words := strings.Fields(phrase); len(words) > 1 {
				for _, w := range words {
					u.words[Fold(w)] = true
				}
			}
		}
	}
}

// NewSpeller makes a speller of a language by words of documents, in lower case without
// diacritics; nil of a language that has no lexicon, or writes no spaces.
func NewSpeller(language string, words []string) *Speller {
	v := vocabularyOf(base(language))
	if v == nil || v.wide != nil {
		return nil
	}
	s := &Speller{usual: usages[base(language)](), own: map[string]bool{}, known: map[int][]string{}}
	for _, w := range words {
		if n := utf8.RuneCountInString(w); n > 1 && !s.own[w] && !strings.ContainsFunc(w, unicode.IsDigit) {
			s.own[w] = true
			s.known[n] = append(s.known[n], w)
		}
	}
	return s
}

// is says whether a word is right as it is.
func (s *Speller) is(word string) bool {
	return s.own[word] || s.usual.words[word] || vocabularyOf(s.usual.language).knows(word) || s.usual.language == "en" && isEnglish(word)
}

// knows says whether a word is the lexicon's, in any form.
func (v *wording) knows(word string) bool {
	if v.words[word] != nil {
		return true
	}
	terms := Terms(v.language, word)
	if len(terms) == 1 && utf8.RuneCountInString(terms[0].Text) > shortStem {
		if _, n := v.at(terms, word); n > 0 {
			return true
		}
	}
	return v.inflected(word) != nil || compounding[v.language] && v.compounded(word) == 2
}

// Right is a text with its misspelled words set right, but for those that are right
// elsewhere, in lower case without diacritics.
func (s *Speller) Right(text string, besides func(word string) bool) string {
	var out strings.Builder
	end := 0
	for _, w := range split(text) {
		typed := text[w.from:w.to]
		if w.shape != plain || w.from < end || besides(Fold(typed)) {
			continue
		}
		if right := s.word(typed); right != "" {
			out.WriteString(text[end:w.from])
			out.WriteString(right)
			end = w.to
		}
	}
	out.WriteString(text[end:])
	return out.String()
}

// word is what a misspelled word was meant to be, empty where it is right or nothing is
// near enough.
func (s *Speller) word(typed string) string {
	word := Fold(typed)
	n := utf8.RuneCountInString(word)
	if n < 3 || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) || s.is(word) {
		return ""
	}
	own, usual := spelled(n)
	if compounding[s.usual.language] && vocabularyOf(s.usual.language).compounded(word) > 0 {
		own, usual = slipReplaced, slipMissing // likely a word, unless a letter was missed
	}
	if right := s.nearest(word, n, own, usual); right != "" {
		return right
	}
	return s.apart(word)
}

const (
	// ownSpelled is how much nearer a word of the documents counts.
	ownSpelled = 0.15
	// doubtful is how much farther the second word must be that another could be.
	doubtful = 0.1
)

// nearest is the one word that a word is a slip of, so far from one of the documents at most and
// from another.
func (s *Speller) nearest(word string, n int, own, usual float64) string {
	best, least, second := "", math.Inf(1), math.Inf(1)
	look := func(known map[int][]string, most, less float64) {
		for length := n - 2; length <= n+2; length++ {
			for _, other := range known[length] {
				d := misspelling(word, other)
				if d > most {
					continue
				}
				d -= less
				switch {
				case d < least:
					if best != "" && !s.sameStem(best, other) {
						second = least
					}
					best, least = other, d
				case d < second && other != best && !s.sameStem(best, other):
					second = d
				}
			}
		}
	}
	look(s.known, own, ownSpelled)
	look(s.usual.known, usual, 0)
	if best == "" || second-least < doubtful || s.sameStem(word, best) || inflects(word, best) {
		return ""
	}
	return best
}

func (s *Speller) sameStem(a, b string) bool {
	x, y := Terms(s.usual.language, a), Terms(s.usual.language, b)
	return len(x) == 1 && len(y) == 1 && x[0].Text == y[0].Text
}

// endings are those that words of many languages have in their forms.
var endings = set("a ai ait an ant ar as ase d e ed em en ent er es est et ez i ia ing ir is n ns o on ons os r re s st t te ten u us x y")

// inflects says whether two words differ as forms of one do. A word is looked for in all
// its forms anyway.
func inflects(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 3 && (a[n:] == "" || endings[a[n:]]) && (b[n:] == "" || endings[b[n:]])
}

// spelled is how far a word of so many letters may be from the one that was meant: one of
// the documents, and any other.
func spelled(letters int) (own, usual float64) {
	switch {
	case letters < 4:
		return 0.6, 0.5
	case letters < 6:
		return 1, 0.8
	case letters < 8:
		return 1.5, 0.9
	default:
		return 2, 1.2
	}
}

// leastJoined is how many letters each of two words has at least that were typed as one.
const leastJoined = 3

// apart is two words that were typed as one.
func (s *Speller) apart(word string) string {
	letters := []rune(word)
	if compounding[s.usual.language] {
		return ""
	}
	for cut := len(letters) - leastJoined; cut >= leastJoined; cut-- {
		head, tail := string(letters[:cut]), string(letters[cut:])
		if s.listed(head) && s.listed(tail) {
			return head + " " + tail
		}
	}
	return ""
}

// listed says whether a word is one by which others are set right.
func (s *Speller) listed(word string) bool {
	return s.own[word] || s.usual.words[word] || vocabularyOf(s.usual.language).words[word] != nil
}

// mostSpelled is how far any word may be from the one that was meant.
const mostSpelled = 2

// misspelling is how far two words are apart for somebody who writes as they hear: the
// first letter may be missing or sound alike.
func misspelling(a, b string) float64 {
	x, first := utf8.DecodeRuneInString(a)
	y, size := utf8.DecodeRuneInString(b)
	switch next, _ := utf8.DecodeRuneInString(b[size:]); {
	case x == y || next == x && strings.HasPrefix(a[first:], string(y)):
		return slip(a, b, mostSpelled)
	case next == x:
		return firstMissing + slip(a, b[size:], mostSpelled)
	case alike(x, y) == soundsAlike:
		return soundsAlike + slip(a[first:], b[size:], mostSpelled)
	}
	return mostSpelled + 1
}

// firstMissing is what a missing first letter counts.
const firstMissing = 0.9

func isEnglish(word string) bool { return englishSet()[word] }
