package search

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/lexicon"
)

// Meaning is a stretch of a text that means concepts of the lexicon.
type Meaning struct {
	// Concepts index lexicon.Concepts.
	Concepts []int
	// From and To bound the stretch in the text, in bytes.
	From, To int
	// Sure is 1 for a word of the lexicon, and less for a part of a compound or
	// what is likely a misspelling.
	Sure float64
	// Same are other words for it, of an organization's own.
	Same []string
}

// How sure a meaning is that is not a word's of the lexicon.
const (
	sureCompound = 0.85
	// SureMisspelled is how sure the meaning of a misspelled word is.
	SureMisspelled = 0.75
)

// Meanings are the concepts that a text's words mean, in their order. The language
// is a code; of one that the lexicon does not have, there are none.
func Meanings(language, text string) []Meaning { return meanings(language, text, false) }

// Understand is Meanings for what somebody typed in a hurry: misspelled words mean
// what is nearest.
func Understand(language, text string) []Meaning { return meanings(language, text, true) }

func meanings(language, text string, forgiving bool) []Meaning {
	v := vocabularyOf(base(language))
	if v == nil {
		return nil
	}
	if v.wide != nil {
		return v.inUnspaced(text)
	}
	return v.inSpaced(apart(Terms(language, text)), text, forgiving)
}

// apart leaves of terms those that do not overlap an earlier one: a code and not its parts.
func apart(terms []Term) []Term {
	out := terms[:0:0]
	end := 0
	for _, t := range terms {
		if t.From >= end {
			out = append(out, t)
			end = t.To
		}
	}
	return out
}

// wording is the lexicon in one language.
type wording struct {
	language string
	// phrases are the words and phrases by their first term, the longest first.
	phrases map[string][]expression
	// words are the single words as they are written, in lower case without diacritics.
	words map[string][]int
	// written are those that are stop words as well, as they are written, in lower case.
	written map[string]bool
	// byStem are those words by their term: several may have one.
	byStem map[string][]string
	// byLength are those words by how many letters they have.
	byLength map[int][]string
	// wide are the words of a language without spaces, by their first character.
	wide map[rune][]expression
	// means are the terms by which a concept is found, with what each counts.
	means [][]alternative
}

type expression struct {
	terms    []string
	text     string // of a language without spaces
	concepts []int
}

// alternative is a term that stands for another, and what it counts, from 0 to 1.
type alternative struct {
	term  string
	share float64
}

// What a term counts that only means the same, and what a term of a phrase does.
const (
	meansWord   = 0.8
	meansPhrase = 0.5
)

var wordings = func() map[string]func() *wording {
	all := map[string]func() *wording{}
	for _, language := range lexicon.Languages() {
		all[language] = sync.OnceValue(func() *wording { return newWording(language) })
	}
	return all
}()

// vocabularyOf is the lexicon in a language, nil where it has none. It is made when it
// is first needed.
func vocabularyOf(language string) *wording {
	if make := wordings[language]; make != nil {
		return make()
	}
	return nil
}

func newWording(language string) *wording {
	concepts := lexicon.Concepts()
	v := &wording{
		language: language, phrases: map[string][]expression{}, words: map[string][]int{}, written: map[string]bool{}, byStem: map[string][]string{}, byLength: map[int][]string{},
		means: make([][]alternative, len(concepts)),
	}
	if language == "zh" || language == "ja" {
		v.wide = map[rune][]expression{}
	}
	for i, c := range concepts {
		for _, word := range c.Words[language] {
			v.enter(i, word)
		}
	}
	for word := range v.words {
		n := utf8.RuneCountInString(word)
		v.byLength[n] = append(v.byLength[n], word)
	}
	for _, same := range v.byLength {
		slices.Sort(same)
	}
	for _, some := range v.phrases {
		slices.SortStableFunc(some, func(a, b expression) int { return len(b.terms) - len(a.terms) })
	}
	for _, some := range v.wide {
		slices.SortStableFunc(some, func(a, b expression) int { return len(b.text) - len(a.text) })
	}
	return v
}

// enter adds a word or phrase of a concept.
func (v *wording) enter(concept int, word string) {
	terms := apart(Terms(v.language, word))
	if len(terms) == 0 {
		return
	}
	v.find(concept, Terms(v.language, word), len(terms))
	if v.wide != nil {
		text := newAnalyser(v.language).lower(word)
		first, _ := utf8.DecodeRuneInString(text)
		v.wide[first] = added(v.wide[first], expression{text: text}, concept, func(e expression) bool { return e.text == text })
		return
	}
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.Text
	}
	texts = undetermined(v.language, texts)
	v.phrases[texts[0]] = added(v.phrases[texts[0]], expression{terms: texts}, concept,
		func(e expression) bool { return slices.Equal(e.terms, texts) })
	if len(terms) == 1 {
		raw := Fold(word)
		if terms[0].Stop {
			v.written[newAnalyser(v.language).lower(word)] = true
		}
		if !slices.Contains(v.byStem[texts[0]], raw) {
			v.byStem[texts[0]] = append(v.byStem[texts[0]], raw)
		}
		if !slices.Contains(v.words[raw], concept) {
			v.words[raw] = append(v.words[raw], concept)
		}
	}
}

// added is a list of expressions with one more, or with one more concept of one that it has.
func added(list []expression, e expression, concept int, same func(expression) bool) []expression {
	at := slices.IndexFunc(list, same)
	if at < 0 {
		e.concepts = []int{concept}
		return append(list, e)
	}
	if !slices.Contains(list[at].concepts, concept) {
		list[at].concepts = append(list[at].concepts, concept)
	}
	return list
}

// find adds the terms by which a concept is found in an index.
func (v *wording) find(concept int, terms []Term, words int) {
	share := meansWord
	if words > 1 {
		share = meansPhrase
	}
	for _, t := range terms {
		if t.Stop && words > 1 {
			continue
		}
		at := slices.IndexFunc(v.means[concept], func(a alternative) bool { return a.term == t.Text })
		if at < 0 {
			v.means[concept] = append(v.means[concept], alternative{t.Text, share})
		} else {
			v.means[concept][at].share = max(v.means[concept][at].share, share)
		}
	}
}

// inSpaced are the meanings of terms that do not overlap: of the longest phrase at each.
func (v *wording) inSpaced(terms []Term, text string, forgiving bool) []Meaning {
	var out []Meaning
	for i := 0; i < len(terms); {
		t := terms[i]
		if e, n := v.at(terms[i:], text); n > 1 || n == 1 && !v.isOther(t, text) {
			out = append(out, Meaning{Concepts: e.concepts, From: terms[i].From, To: terms[i+n-1].To, Sure: 1})
			i += n
			continue
		}
		if concepts, sure := v.inWord(Fold(text[t.From:t.To]), t.Stop, forgiving); len(concepts) > 0 && !v.isOther(t, text) {
			out = append(out, Meaning{Concepts: concepts, From: t.From, To: t.To, Sure: sure})
		}
		i++
	}
	return v.parted(terms, text, out)
}

// isOther says whether a term is a stop word that only looks like a word of the lexicon without
// its diacritics: German "über", which is not "Uber".
func (v *wording) isOther(t Term, text string) bool {
	if !t.Stop {
		return false
	}
	word := newAnalyser(v.language).lower(text[t.From:t.To])
	return marked[v.language][word] && !v.written[word]
}

// inUnspaced are the meanings in a text without spaces: of the longest word at each
// character.
func (v *wording) inUnspaced(text string) []Meaning {
	var out []Meaning
	for i := 0; i < len(text); {
		first, size := utf8.DecodeRuneInString(text[i:])
		for _, e := range v.wide[unicode.ToLower(first)] {
			if len(e.text) <= len(text)-i && strings.EqualFold(text[i:i+len(e.text)], e.text) {
				out = append(out, Meaning{Concepts: e.concepts, From: i, To: i + len(e.text), Sure: 1})
				size = len(e.text)
				break
			}
		}
		i += size
	}
	return out
}

// InLexicon says whether a word, in lower case without diacritics, is one of the lexicon's.
func InLexicon(language, word string) bool {
	v := vocabularyOf(base(language))
	return v != nil && v.words[word] != nil
}
