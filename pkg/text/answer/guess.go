package answer

import (
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

// Guess is the language of a few words that no stop word tells: the one that has most of
// them, empty where two have as many.
func Guess(text string) string {
	best, most, second := "", 0, 0
	for _, language := range lexicon.Languages() {
		t := talkOf(language)
		if t.wide {
			continue
		}
		n := 0
		for _, word := range search.NewPhrase(text) {
			if len(word) < 2 {
				continue
			}
			if t.function[bareLetters.Replace(word)] {
				n += 2
			}
			if search.InLexicon(language, word) {
				n++
			}
		}
		switch {
		case n > most:
			best, most, second = language, n, most
		case n > second:
			second = n
		}
	}
	if most < 2 || most == second {
		return ""
	}
	return best
}
