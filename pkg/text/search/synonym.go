package search

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Synonyms are words that mean the same to an organization, beside what the lexicon
// says. A nil one has none. Several goroutines may use one.
type Synonyms struct {
	groups    [][]string
	languages []string

	mu    sync.Mutex
	known map[string][]group // by the language that they are compared in
}

// group is one set of synonyms in a language.
type group struct {
	words    []synonym
	concepts []int
}

// synonym is a word or phrase, as it is compared in a text.
type synonym struct {
	text   string // as it was written
	folded string
	terms  []string
	wide   bool
}

// NewSynonyms makes groups of words that mean the same known. What else the words mean is
// looked for in the languages, by code. It is nil where there are none.
func NewSynonyms(groups [][]string, languages []string) *Synonyms {
	if len(groups) == 0 {
		return nil
	}
	s := &Synonyms{groups: groups, known: map[string][]group{}}
	for _, language := range languages {
		if code := base(language); vocabularyOf(code) != nil && !slices.Contains(s.languages, code) {
			s.languages = append(s.languages, code)
		}
	}
	return s
}

// Understand is Understand with what the synonyms say. Their longest match counts,
// unless it is a part of an expression of the lexicon's.
func (s *Synonyms) Understand(language, text string) []Meaning {
	plain := Understand(language, text)
	if s == nil {
		return plain
	}
	groups := s.in(base(language))
	out := s.matches(groups, language, text, plain)
	for _, m := range plain {
		if slices.ContainsFunc(out, m.touches) {
			continue
		}
		for _, g := range groups {
			if m.Sure == 1 && len(m.Same) == 0 && !light(m.Concepts) && intersect(g.concepts, m.Concepts) {
				m.Same = g.besides("")
			}
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Meaning) int { return a.From - b.From })
	return out
}

func (m Meaning) touches(o Meaning) bool { return o.From < m.To && m.From < o.To }

func intersect(a, b []int) bool {
	return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}

// matches are the synonyms that stand in a text, without two that touch.
func (s *Synonyms) matches(groups []group, language, text string, plain []Meaning) []Meaning {
	terms := apart(Terms(language, text))
	var found []Meaning
	for _, g := range groups {
		for _, w := range g.words {
			for _, m := range w.in(language, terms, text) {
				if slices.ContainsFunc(plain, func(o Meaning) bool {
					return o.Sure == 1 && o.From <= m.From && m.To <= o.To && o.To-o.From > m.To-m.From
				}) {
					continue
				}
				m.Concepts, m.Same = slices.Clone(g.concepts), g.besides(w.text)
				found = append(found, m)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Meaning) int {
		if a.Sure != b.Sure {
			return int(100 * (b.Sure - a.Sure))
		}
		return (b.To - b.From) - (a.To - a.From)
	})
	var out []Meaning
	for _, m := range found {
		if !slices.ContainsFunc(out, m.touches) {
			out = append(out, m)
		}
	}
	for i := range out {
		for _, o := range plain {
			if o.From == out[i].From && o.To == out[i].To && o.Sure == 1 {
				out[i].Concepts = union(out[i].Concepts, o.Concepts)
			}
		}
	}
	return out
}

func union(a, b []int) []int {
	for _, c := range b {
		if !slices.Contains(a, c) {
			a = append(a, c)
		}
	}
	return a
}

// in are the groups as they are compared in a language.
func (s *Synonyms) in(language string) []group {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[language]; ok {
		return known
	}
	all := make([]group, 0, len(s.groups))
	for _, words := range s.groups {
		var g group
		for _, word := range words {
			g.words = append(g.words, newSynonym(language, word))
			for _, spoken := range s.languages {
				g.concepts = union(g.concepts, whole(spoken, word))
			}
		}
		all = append(all, g)
	}
	s.known[language] = all
	return all
}

// whole is what a whole word or phrase means in a language, beyond what says little.
func whole(language, text string) (concepts []int) {
	for _, m := range Meanings(language, text) {
		if m.From == 0 && m.To == len(text) && m.Sure == 1 && !light(m.Concepts) {
			concepts = append(concepts, m.Concepts...)
		}
	}
	return concepts
}

func newSynonym(language, word string) synonym {
	w := synonym{text: word, folded: Fold(word), wide: strings.ContainsFunc(word, unspaced)}
	for _, t := range apart(Terms(language, word)) {
		w.terms = append(w.terms, t.Text)
	}
	return w
}

// besides are the words of a group but one.
func (g *group) besides(one string) []string {
	var out []string
	for _, w := range g.words {
		if w.text != one {
			out = append(out, w.text)
		}
	}
	return out
}

// in are the places of a text where a word stands.
func (w *synonym) in(language string, terms []Term, text string) (found []Meaning) {
	if w.wide {
		lowered := strings.ToLower(text)
		if at := strings.Index(lowered, strings.ToLower(w.text)); at >= 0 && len(lowered) == len(text) {
			found = append(found, Meaning{From: at, To: at + len(w.text), Sure: 1})
		}
		return found
	}
	for i := 0; len(w.terms) > 0 && i+len(w.terms) <= len(terms); i++ {
		last := terms[i+len(w.terms)-1]
		m := Meaning{From: terms[i].From, To: last.To, Sure: 1}
		switch written := Fold(text[m.From:m.To]); {
		case len(w.terms) == 1 && utf8.RuneCountInString(w.terms[0]) <= shortStem && written != w.folded:
		case matches(w.terms, terms[i:]):
			found = append(found, m)
		case len(w.terms) == 1 && !terms[i].Stop && w.misspelled(language, written):
			m.Sure = SureMisspelled
			found = append(found, m)
		}
	}
	return found
}

// misspelled says whether a word is likely a slip for this one.
func (w *synonym) misspelled(language, word string) bool {
	n := utf8.RuneCountInString(word)
	if n < leastMisspelled || utf8.RuneCountInString(w.folded) < leastMisspelled || InLexicon(language, word) {
		return false
	}
	if base(language) == "en" && isEnglish(word) {
		return false
	}
	return slip(word, w.folded, 1) <= 1
}
