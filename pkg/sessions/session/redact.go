package session

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// blot is what stands for words that are not kept.
const blot = "▇▇▇"

// patterns are the things that can be blotted out by their name.
var patterns = map[string]*regexp.Regexp{
	"email": regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,}`),
	"card":  regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`),
	"phone": regexp.MustCompile(`(?:\+|\b00)?\d(?:[ ()./-]{0,2}\d){6,}`),
}

// redaction blots out of texts what a persona's rules name.
type redaction []*regexp.Regexp

// redactionOf reads rules: email, phone, card, or a word as it is, in whatever
// case. Words are blotted out last, the longest before those they contain: a name
// is part of many an address.
func redactionOf(rules []string) redaction {
	var (
		r     redaction
		words []string
	)
	for _, rule := range rules {
		word := strings.TrimSpace(storable(rule))
		if p, ok := patterns[word]; ok {
			r = append(r, p)
		} else if word != "" {
			words = append(words, regexp.QuoteMeta(word))
		}
	}
	if len(words) > 0 {
		slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
		r = append(r, regexp.MustCompile(`(?i)`+strings.Join(words, "|")))
	}
	return r
}

// blot blots a text out.
func (r redaction) blot(text string) string {
	for _, p := range r {
		text = p.ReplaceAllString(text, blot)
	}
	return text
}
