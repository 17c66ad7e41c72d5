package conversation

import (
	"maps"
	"strings"
)

// phrasebook is what is said and understood in a language without any knowledge.
// Lists are separated by bars.
type phrasebook struct {
	// What the avatar says. {{persona}} is its name, {{role}} what it is.
	disclosure, greeting, welcome, thanks, wellness, who, whoAs string
	dontKnow, idle, closing, handoff, askAgain, refuse, confirm string
	noted, moment                                               string
	// contact says what answering means before somebody is asked how they are reached, and reach
	// begins what a model wants to pass on, which they are to agree to.
	contact, reach string
	// nobody says that the person who was asked for does not come, callback asks how somebody is
	// reached then, and reached promises that they are, where that is known.
	nobody, callback, reached string
	// more asks further where an answer is thin, hint begins a hint, and last follows the answer to
	// the last question of a subject.
	more, hint, last string
	// timeUp says that the time to answer is over.
	timeUp string
	// What users say, each phrase being nearly all of an utterance.
	hearGreeting, hearThanks, hearWellness, hearWho, hearRepeat string
	hearGoodbye, hearPerson, hearYes, hearNo                    string
	// The words that carry no meaning of their own, in lower case.
	function string
	// Those of them that point back at what was said before.
	pronouns string
	// Those of the pronouns that are articles too: before a word of meaning they only
	// belong to it, as "la" does in "la cafetería".
	articles string
	// The words that ask for a time, a number, a place.
	askWhen, askNumber, askWhere string

	// empty are the function words, pointing the pronouns and attached the articles
	// among them, as sets.
	empty, pointing, attached map[string]bool
}

// phrases are the product's own words: with the packs', the persona's and a
// connected model's, all that an avatar ever says.
var phrases = func() map[string]*phrasebook {
	all := map[string]*phrasebook{}
	for _, part := range []map[string]*phrasebook{germanicPhrases, romancePhrases, otherPhrases} {
		maps.Copy(all, part)
	}
	for _, book := range all {
		book.empty, book.pointing, book.attached = wordSet(book.function), wordSet(book.pronouns), wordSet(book.articles)
	}
	return all
}()

// bookOf is the phrasebook of a language: its own, that of the language it is a
// form of, or else English.
func bookOf(language string) *phrasebook {
	if book := phrases[base(language)]; book != nil {
		return book
	}
	return phrases["en"]
}

// base is a language without region and script: "pt" of "pt-BR".
func base(language string) string {
	code, _, _ := strings.Cut(language, "-")
	return strings.ToLower(code)
}

// inLanguage picks a text by language: exactly, by the base language, in
// English, or else the first of them in the order of their codes.
func inLanguage(texts map[string]string, language string) string {
	for _, code := range []string{language, base(language), "en"} {
		if text := texts[code]; text != "" {
			return text
		}
	}
	first := ""
	for code, text := range texts {
		if text == "" {
			continue
		}
		if base(code) == base(language) {
			return text
		}
		if first == "" || code < first {
			first = code
		}
	}
	return texts[first]
}

// fill replaces {{name}} by the variable of that name; one that is not known
// leaves nothing, for nobody is to hear braces.
func fill(text string, variables map[string]string) string {
	var out strings.Builder
	for {
		before, rest, open := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !open || !closed {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(before)
		out.WriteString(variables[strings.TrimSpace(name)])
		text = after
	}
}
