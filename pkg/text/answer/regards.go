package answer

import (
	"slices"
	"strings"

	"visavis.dev/pkg/text/search"
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
		if t.namesMatter(before) || t.namesMatter(after) {
			return true
		}
	}
	return false
}

// namesMatter says whether a part of what was said has a word of a matter: one that means
// something, or that is no word of every question.
func (t *talk) namesMatter(part string) bool {
	part = strings.ReplaceAll(part, ";", "")
	if t.wide {
		return t.topical(strings.ReplaceAll(part, " ", ""))
	}
	meant := search.Meanings(t.language, part)
	return slices.ContainsFunc(search.Terms(t.language, part), func(w search.Term) bool {
		if w.Stop || OfAsking(t.language, part[w.From:w.To]) {
			return false
		}
		at := slices.IndexFunc(meant, func(m search.Meaning) bool { return w.From >= m.From && w.To <= m.To })
		return at < 0 && !t.function[part[w.From:w.To]] || at >= 0 && !light(meant[at].Concepts)
	})
}
