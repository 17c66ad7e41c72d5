package answer

import (
	"maps"
	"strings"

	"visavis.dev/pkg/text/search"
)

// Spelled is a question with the words set right that it misspells or shortens ("u", "pls").
// The words, in lower case without diacritics, are those of what it asks about.
func Spelled(language, text string, words []string) string {
	t, speller := talkOf(language), search.NewSpeller(language, words)
	if t == nil || speller == nil {
		return text
	}
	return speller.Right(t.lengthened(text), func(word string) bool { return t.common[word] })
}

// lengthened is a text with its shortened words as they are written out.
func (t *talk) lengthened(text string) string {
	fields := strings.Fields(text)
	changed := false
	for i, field := range fields {
		word := strings.Trim(field, ".,;:!?¿¡")
		if to := t.spellings[bareLetters.Replace(search.Fold(word))]; word != "" && to != nil {
			fields[i] = strings.Replace(field, word, strings.Join(to, " "), 1)
			changed = true
		}
	}
	if !changed {
		return text
	}
	return strings.Join(fields, " ")
}

// commonWords are the words of asking and of the acts of talk.
func (t *talk) commonWords() map[string]bool {
	out := maps.Clone(t.function)
	for _, words := range t.known {
		for _, word := range words {
			out[word] = true
		}
	}
	return out
}
