package answer

import (
	"strings"

	"visavis.dev/pkg/text/search"
)

// wishes are the concepts that are each answered on their own.
var wishes = []string{"phone", "email", "address", "website", "hours", "open_word", "price", "wifi", "password", "parking", "park_word", "lead_run", "founder", "found_year", "history"}

// wishWords is how many words something has at most that is asked for beside another.
const wishWords = 10

// Wishes are the things that a text asks for at once, each in its own words: "phone number
// and address". It is the text alone where it asks for one.
func Wishes(language, text string) []string {
	for _, at := range and(language).FindAllStringIndex(text, -1) {
		first, second := text[:at[0]], text[at[1]:]
		if strings.TrimSpace(first) == "" || len(search.NewPhrase(first)) > wishWords || len(search.NewPhrase(second)) > wishWords {
			continue
		}
		if one, other := wished(language, first), wished(language, second); one != "" && other != "" && one != other {
			return append([]string{first}, Wishes(language, second)...)
		}
	}
	return []string{text}
}

// wished is the first concept of a text that is answered on its own, empty where there is
// none.
func wished(language, text string) string {
	e := EvidenceIn(language, text)
	for _, key := range wishes {
		if e.has(key) {
			return key
		}
	}
	return ""
}

// GoesOn says whether a text goes on from what was asked before: "and on Tuesday?".
func GoesOn(language, text string) bool {
	t := talkOf(language)
	if t == nil || t.begins["lead"] == nil {
		return false
	}
	said := hear(text, nil)
	first := t.begins["lead"].FindString(said.text)
	return first != "" && joining[strings.Trim(strings.SplitN(first, ";", 2)[0], " ;")]
}

// joining are the words for "and", "but", "so" as what goes on begins with them.
var joining = map[string]bool{
	"and": true, "but": true, "so": true, "what": true, "how": true, "und": true, "aber": true, "et": true, "mais": true, "y": true, "pero": true, "e": true, "ma": true,
	"mas": true, "en": true, "maar": true, "a": true, "i": true, "ve": true, "peki": true, "ya": true, "w": true, "那": true, "では": true, "じゃあ": true, "و": true,
}

// OfState says whether a word says of something how it is, as "open" and "free" do: what
// a pronoun before it points at is another thing.
func OfState(language, word string) bool {
	e := EvidenceIn(language, word)
	return e.has("hours", "open_word", "close_word", "closed", "price", "allowed", "included")
}
