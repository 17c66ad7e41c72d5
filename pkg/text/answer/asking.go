package answer

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"visavis.dev/pkg/text/search"
)

//go:embed disclosure.txt
var disclosureText string

// nearRest is how many words may stand beside a question of disclosure.txt in the language
// of the conversation or in the one that the words show.
const nearRest = 5

// asking are the questions for disclosure in languages that are not heard otherwise, or
// not enough.
var asking = sync.OnceValue(func() []*talk {
	all, err := readAsking(disclosureText)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return all
})

func readAsking(text string) ([]*talk, error) {
	var all []*talk
	for _, part := range strings.Split("\n"+text, "\n[")[1:] {
		language, lines, _ := strings.Cut(part, "]")
		t, err := readTalk(language, "[disclosure]\n"+lines)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// undetailed is the language of disclosure.txt in which a text asks who speaks.
func undetailed(language, text string) string {
	shown := search.Detect(text)
	for _, t := range asking() {
		rest := farRest
		if t.language == base(language) || t.language == shown {
			rest = nearRest
		}
		if t.holds(hear(text, nil), Disclosure, rest) {
			return t.language
		}
	}
	return ""
}

// digitLetters are the letters that digits stand for in "hum4n".
var digitLetters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t")

// minSpaced is how many letters alone, one after the other, are words written apart.
const minSpaced = 5

// undisguised is a text without what hides its words: marks that are not seen, digits
// for letters, and blanks between the letters.
func undisguised(text string) string {
	text = norm.NFKC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text))
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsLetter) && strings.ContainsFunc(word, unicode.IsDigit) {
			words[i] = digitLetters.Replace(word)
		}
	}
	return strings.Join(closed(words), " ")
}

// closed are words with runs of single letters as one word.
func closed(words []string) []string {
	var out []string
	for i := 0; i < len(words); {
		end := i
		for end < len(words) && isSingle(words[end]) {
			end++
		}
		if end-i >= minSpaced {
			out = append(out, strings.Join(words[i:end], ""))
			i = end
			continue
		}
		out = append(out, words[i])
		i++
	}
	return out
}

// isSingle says whether a word is a letter, perhaps with a sign after it.
func isSingle(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsLetter(first) && utf8.RuneCountInString(strings.TrimRight(word, "?!.,")) == 1
}
