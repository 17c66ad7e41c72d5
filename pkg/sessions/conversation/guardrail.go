package conversation

import (
	"slices"
	"strings"

	"visavis.dev/pkg/personas/persona"
)

// What becomes of an utterance that a guardrail matches.
const (
	actRefuse   = "refuse"
	actRedirect = "redirect"
	actHandoff  = "handoff"
	actEnd      = "end"
)

// directing are the words by which a rule says what to do about its matter;
// they are not the matter.
const directing = "never|do|not|don|avoid|talk|talks|talking|about|discuss|discussing|mention|mentioning|give|giving|say|answer|answering|refuse|reject|user|users|person|people|visitor|visitors|questions|question|topic|topics|anything|any|related|when|if|asks|ask|asked|always|" +
	"nie|nicht|niemals|sprechen|sprich|rede|reden|über|erwähne|beantworte|fragen|frage|ne|jamais|parler|parle|parlez|nunca|hablar|hables|hable|sobre"

// guardrail is a rule made ready to be compared.
type guardrail struct {
	key     string
	action  string
	message string
	// phrases are what stands in quotes: any of them, its words in a row,
	// matches. Without quotes all of matter must occur, in any order.
	phrases [][]string
	matter  []string
}

// guardrailsOf makes rules ready for what is said in a language; they are written in another, or the same. One that names no matter never matches.
func guardrailsOf(rules []persona.Guardrail, language, written string) []guardrail {
	out := make([]guardrail, 0, len(rules))
	for _, rule := range rules {
		g := guardrail{key: rule.Key, action: rule.Action}
		if rule.Message != nil {
			g.message = *rule.Message
		}
		for i, part := range strings.Split(straightQuotes.Replace(rule.Rule), `"`) {
			if words := texts(allWords(language, part)); i%2 == 1 && len(words) > 0 {
				g.phrases = append(g.phrases, words)
			}
		}
		if g.phrases == nil {
			g.matter = matterOf(rule.Rule, language, written)
		}
		out = append(out, g)
	}
	return out
}

var straightQuotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`)

func matterOf(rule, language, written string) []string {
	empty := wordSet(strings.Join([]string{directing, bookOf(language).function, bookOf(written).function, bookOf("en").function}, "|"))
	return texts(slices.DeleteFunc(allWords(language, rule), func(w term) bool {
		return empty[lower(rule[w.from:w.to])]
	}))
}

func texts(words []term) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// matching is the first guardrail that a text falls under, or nil.
func matching(rules []guardrail, language, text string) *guardrail {
	if len(rules) == 0 {
		return nil
	}
	said := texts(allWords(language, text))
	for i := range rules {
		if rules[i].matches(said) {
			return &rules[i]
		}
	}
	return nil
}

func (g *guardrail) matches(said []string) bool {
	for _, phrase := range g.phrases {
		for at := 0; at+len(phrase) <= len(said); at++ {
			if slices.Equal(said[at:at+len(phrase)], phrase) {
				return true
			}
		}
	}
	for _, word := range g.matter {
		if !slices.Contains(said, word) {
			return false
		}
	}
	return len(g.matter) > 0
}
