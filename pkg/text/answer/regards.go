package answer

import (
	"slices"
	"strings"
)

// Regards says whether what was said asks whom to talk to about a matter: "who can I talk to about
// my bill?". That is neither a question for who is speaking nor one for just anybody.
func Regards(language, text string) bool {
	return slices.ContainsFunc(likely(language, text), func(t *talk) bool { return t.regards(hear(text, t.spellings)) })
}

// regards says whether what was said asks whom to talk to ([regarding]), and names a matter
// beside.
func (t *talk) regards(said spoken) bool {
	for span := range t.spans(said, "regarding") {
		before, after := said.text[:span[0]], said.text[span[1]:]
		if f := t.anywhere["nature"]; f != nil && f.MatchString(before+after) {
			continue // "who can I talk to about you being a robot?"
		}
		if t.topical(t.plainly(before)) || t.topical(t.plainly(after)) {
			return true
		}
	}
	return false
}

// plainly is a part of what was said as it is written.
func (t *talk) plainly(part string) string {
	part = strings.ReplaceAll(part, ";", "")
	if t.wide {
		return strings.ReplaceAll(part, " ", "")
	}
	return part
}
