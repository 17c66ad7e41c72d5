package search

import (
	"embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The lists are the Snowball project's, except for ro, ja and zh.
//
//go:embed stopwords/*.txt asking/*.txt
var lists embed.FS

// stopWords are the words of a language that say nothing of what a text is
// about, without diacritics. askingWords are those with which people ask
// ("tell", "how much") and which documents use in earnest; they are skipped
// in questions alone.
var stopWords, askingWords = read("stopwords"), read("asking")

func read(folder string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for language, words := range raw(folder) {
		out[language] = set(unmarked(words))
	}
	return out
}

// marked are the stop words of a language as they are written, with diacritics: French "ne" is
// one, and "né" is none.
var marked = func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for language, words := range raw("stopwords") {
		out[language] = set(words)
	}
	return out
}()

// raw are the lists of a folder as they are written.
func raw(folder string) map[string]string {
	out := map[string]string{}
	files, err := lists.ReadDir(folder)
	if err != nil {
		panic(err) // the folders are part of the program
	}
	for _, f := range files {
		text, err := lists.ReadFile(folder + "/" + f.Name())
		if err != nil {
			panic(err)
		}
		out[strings.TrimSuffix(f.Name(), ".txt")] = string(text)
	}
	return out
}

// isStop judges a lower-case word without diacritics. Pairs of hiragana are
// endings and particles more often than words.
func isStop(language, folded string, s shape) bool {
	if s == gram && language != "zh" {
		first, size := utf8.DecodeRuneInString(folded)
		second, _ := utf8.DecodeRuneInString(folded[size:])
		if unicode.Is(unicode.Hiragana, first) && (size == len(folded) || unicode.Is(unicode.Hiragana, second)) {
			return true
		}
	}
	return stopWords[language][folded]
}

// askingTerms are the words of asking as terms.
func askingTerms(language string) map[string]bool { return asking()[language] }

var asking = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for language, words := range askingWords {
		out[language] = map[string]bool{}
		for w := range words {
			for _, t := range Terms(language, w) {
				out[language][t.Text] = true
			}
		}
	}
	return out
})

// acronymContext is how many bytes around a word show whether all of the text is in capitals.
const acronymContext = 64

// Acronym says whether a word of a text is written in capitals among words that are not: "IT"
// and "US" are no pronouns.
func Acronym(text string, from, to int) bool {
	if utf8.RuneCountInString(text[from:to]) < 2 || strings.ContainsFunc(text[from:to], func(r rune) bool { return !unicode.IsUpper(r) }) {
		return false
	}
	return strings.ContainsFunc(text[max(0, from-acronymContext):from], unicode.IsLower) ||
		strings.ContainsFunc(text[to:min(len(text), to+acronymContext)], unicode.IsLower)
}
