package answer

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"visavis.dev/pkg/text/search"
)

//go:embed dates/names.txt
var namesText string

// calendarNames are one language's names of months, holidays and numbers, as phrases.
type calendarNames struct {
	months, numbers []naming
	holidays        []naming
	// monthFirst says that the day may stand after the month.
	monthFirst bool
}

// naming is a phrase and what it names: a month, a day as month*100+day, or a number.
type naming struct {
	phrase search.Phrase
	value  int
}

var namesOf = sync.OnceValue(func() map[string]*calendarNames {
	all := map[string]*calendarNames{}
	for line := range strings.Lines(namesText) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		n := all[fields[0]]
		if n == nil {
			n = &calendarNames{monthFirst: fields[0] == "en"}
			all[fields[0]] = n
		}
		switch names := list(fields[2]); fields[1] {
		case "months":
			n.months = numbered(names)
		case "numbers":
			n.numbers = numbered(names)
		case "holidays":
			n.holidays = dated(names)
		}
	}
	return all
})

func numbered(names []string) []naming {
	var out []naming
	for i, name := range names {
		for one := range strings.SplitSeq(name, "|") {
			out = append(out, naming{search.NewPhrase(one), i + 1})
		}
	}
	return out
}

func dated(names []string) []naming {
	var out []naming
	for _, name := range names {
		phrase, date, _ := strings.Cut(name, "=")
		month, day, _ := strings.Cut(date, "-")
		m, _ := strconv.Atoi(month)
		d, _ := strconv.Atoi(day)
		out = append(out, naming{search.NewPhrase(phrase), m*100 + d})
	}
	return out
}

// named is the longest of some names that words begin with, with how many it has.
func named(names []naming, words []string) (value, size int) {
	for _, n := range names {
		if len(n.phrase) > size && len(n.phrase) <= len(words) && begins(words, n.phrase) {
			value, size = n.value, len(n.phrase)
		}
	}
	return value, size
}

func begins(words, phrase []string) bool {
	for i, word := range phrase {
		if words[i] != word {
			return false
		}
	}
	return true
}

// Digits is a text with its number words as numerals, where they count years of age or
// stand for a time: "six year old", "vierjährig".
func digits(language, text string) string {
	n := namesOf()[base(language)]
	if n == nil || len(n.numbers) == 0 {
		return text
	}
	words := []string(search.NewPhrase(text))
	out := make([]string, 0, len(words))
	for i := 0; i < len(words); {
		if value, size := named(n.numbers, words[i:]); size > 0 {
			out = append(out, strconv.Itoa(value))
			i += size
			continue
		}
		if value, rest := yearsOld(n.numbers, words[i]); value > 0 {
			out = append(out, strconv.Itoa(value), rest)
			i++
			continue
		}
		out = append(out, words[i])
		i++
	}
	return strings.Join(out, " ")
}

// yearsOld parts a compound of a number and "years old", as German and Dutch have it.
func yearsOld(numbers []naming, word string) (value int, rest string) {
	for _, n := range numbers {
		if len(n.phrase) != 1 || n.value < 2 {
			continue
		}
		if rest, ok := strings.CutPrefix(word, n.phrase[0]); ok && (strings.HasPrefix(rest, "jahrig") || strings.HasPrefix(rest, "jarig")) {
			return n.value, rest
		}
	}
	return 0, ""
}
