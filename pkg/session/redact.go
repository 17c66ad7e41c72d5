package session

import (
	"regexp"
	"strings"
)

// blot is what stands for words that are not kept.
const blot = "▇▇▇"

// patterns are the things that can be blotted out by their name.
var patterns = map[string]*regexp.Regexp{
	"email": regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,}`),
	"phone": regexp.MustCompile(`(?:\+|\b00)?\d(?:[ ()./-]{0,2}\d){6,14}`),
	"card":  regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`),
}

// redact blots out of a text what a persona's rules name: email, phone, card, or
// a word as it is.
func redact(text string, rules []string) string {
	for _, rule := range rules {
		if p, ok := patterns[rule]; ok {
			text = p.ReplaceAllString(text, blot)
			continue
		}
		if word := strings.TrimSpace(rule); word != "" {
			text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(word)).ReplaceAllString(text, blot)
		}
	}
	return text
}
