package conversation

import (
	"slices"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/text/search"
)

// same are other words for a unit of a question, of the organization's own, as they are
// compared in a text. It is one goroutine's.
type same struct {
	words []string
	// terms are those of each word, by the language of the text.
	terms map[string][][]string
}

func sameWords(words []string) *same {
	if len(words) == 0 {
		return nil
	}
	return &same{words: words, terms: map[string][][]string{}}
}

// with are the words of both.
func (s *same) with(o *same) *same {
	switch {
	case s == nil:
		return o
	case o == nil:
		return s
	}
	return sameWords(slices.Concat(s.words, o.words))
}

// in says whether a text holds one of the words.
func (s *same) in(held *holding) bool {
	if s == nil {
		return false
	}
	all, ok := s.terms[held.language]
	if !ok {
		for _, word := range s.words {
			all = append(all, termsOf(held.language, word))
		}
		s.terms[held.language] = all
	}
	return slices.ContainsFunc(all, func(terms []string) bool {
		return len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return !held.terms[t] })
	})
}

// termsOf are the terms of a word or phrase by which a text is held to have it.
func termsOf(language, word string) (terms []string) {
	for _, w := range contentWords(language, word) {
		terms = append(terms, w.text)
	}
	return terms
}

// synonymsOf are the words that mean the same to a persona.
func synonymsOf(d *persona.Definition) *search.Synonyms {
	groups := make([][]string, len(d.Knowledge.Synonyms))
	for i, s := range d.Knowledge.Synonyms {
		groups[i] = s.Words
	}
	return search.NewSynonyms(groups, append([]string{d.Settings.Language}, d.Settings.Languages...))
}
