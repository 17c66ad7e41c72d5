package answer

import (
	"regexp"
	"slices"
	"strings"

	"visavis.dev/pkg/text/search"
)

// maxQuestions is how many questions in one are answered.
const maxQuestions = 3

// Questions are the questions in what somebody said: at its question marks, and at an
// "and" that another question follows. Each has its own words.
func Questions(language, text string) []string {
	t := talkOf(language)
	if t == nil {
		t = talkOf("en")
	}
	var out []string
	for _, part := range marks.FindAllString(text, -1) {
		part = strings.TrimSpace(part)
		if len(search.NewPhrase(part)) == 0 {
			continue
		}
		out = append(out, t.joined(part)...)
	}
	// What is no question of its own belongs to the one after it: "I have a dog. Can I bring it?"
	var asked []string
	before := ""
	for i, part := range out {
		if i < len(out)-1 && !t.asks(part) {
			before += part + " "
			continue
		}
		asked = append(asked, before+part)
		before = ""
	}
	if len(asked) == 0 || len(asked) > maxQuestions {
		return []string{text}
	}
	return asked
}

// wholeQuestion is how many words stand before an "and" that are a question though none
// of asking is heard in them.
const wholeQuestion = 4

var marks = regexp.MustCompile(`[^?？؟.!。！\n]+(?:\.[^\s?.!][^?？؟.!。！\n]*)*[?？؟.!。！\n]*`)

// ands part two questions in one sentence, by language.
var ands = func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for language, words := range map[string]string{
		"en": "and", "de": "und", "fr": "et", "es": "y|e", "it": "e|ed", "pt": "e", "nl": "en", "pl": "i|oraz|a", "tr": "ve", "zh": "和", "ja": "と", "ar": "و",
	} {
		out[language] = regexp.MustCompile(`(?i),? (?:` + words + `) |[,，、;；]\s?|وكم|(?:以及|并且|还有)`)
	}
	return out
}()

// and parts two questions in one sentence of a language.
func and(language string) *regexp.Regexp {
	if one := ands[base(language)]; one != nil {
		return one
	}
	return ands["en"]
}

// joined are the questions that an "and" joins: where on both sides a question begins.
func (t *talk) joined(text string) []string {
	for _, at := range and(t.language).FindAllStringIndex(text, -1) {
		first, second := text[:at[0]], text[at[1]:]
		if words := len(search.NewPhrase(first)); t.opens(second) && (t.asks(first) && words > 1 || words >= wholeQuestion) {
			return append([]string{first}, t.joined(second)...)
		}
	}
	return []string{text}
}

// opens says whether a text begins as a question does that expects a kind of answer.
func (t *talk) opens(text string) bool {
	said := hear(text, t.spellings)
	if len(said.words) < 2 {
		return false
	}
	for _, kind := range append(kinds, YesNo) {
		if pattern := t.begins[string(kind)]; pattern != nil && pattern.MatchString(said.text) {
			return true
		}
	}
	return false
}

// asks says whether a text is a question: by its mark or by its words.
func (t *talk) asks(text string) bool {
	return strings.ContainsAny(text, "?？؟") || t.opens(text) || KindOf(t.language, text) != Anything
}

// Corrected is what is meant by somebody who corrects what they asked, without the
// words of correcting; the same where nobody does.
func Corrected(language, text string) (meant string, corrects bool) {
	t := talkOf(language)
	if t == nil || t.wide {
		return text, false
	}
	said := hear(text, nil)
	pattern := t.begins["correction"]
	if pattern == nil {
		return text, false
	}
	taken := strings.Count(pattern.FindString(said.text), ";")
	if taken == 0 || taken >= len(said.words) {
		return text, false
	}
	return strings.Join(said.words[taken:], " "), true
}

// clauseMarks part what somebody tells from what they ask.
var clauseMarks = regexp.MustCompile(`[,;.!?،؛؟，。；！？]+`)

// maxClauses is how many clauses somebody has who tells something and asks.
const maxClauses = 8

// AskingClause is the clause of a text that asks, of "I broke my leg, do I have to pay?" the last:
// all of it where there is none but that, or none asks.
func AskingClause(language, text string) string {
	t := talkOf(language)
	if t == nil {
		return text
	}
	ends := append(clauseMarks.FindAllStringIndex(text, maxClauses+1), []int{len(text), len(text)})
	if len(ends) > maxClauses {
		return text
	}
	for n, end := range slices.Backward(ends) {
		from := 0
		if n > 0 {
			from = ends[n-1][1]
		}
		if clause := text[from:end[1]]; len(search.NewPhrase(clause)) > 1 && t.asks(clause) {
			return clause
		}
	}
	return text
}
