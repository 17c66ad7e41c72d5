package answer

import (
	"regexp"
	"slices"
	"strings"

	"visavis.dev/pkg/text/search"
)

// Regards says whether what was said asks whom to talk to about a matter: "who can I talk to about
// my bill?". That is neither a question for who is speaking nor one for just anybody.
func Regards(language, text string) bool {
	return slices.ContainsFunc(likely(language, text), func(t *talk) bool { return t.regards(hear(text, t.spellings)) })
}

// SeeksWhom says whether what was said asks whom to turn to in a matter, rather than for somebody to
// talk to about it: "can I talk to someone about my bill?".
func SeeksWhom(language, text string) bool {
	return slices.ContainsFunc(likely(language, text), func(t *talk) bool {
		said := hear(text, t.spellings)
		return (t.mentions(string(Whom), said) || t.mentions(string(Who), said)) && t.regards(said)
	})
}

// officeForm is what somebody is who answers for a matter, besides those who lead: "data protection officer".
var officeForm = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:officer|adviser|advisor|coordinator|secretary|contact person)|beauftragte|ansprechp|zuständig|sekretariat|(?:^|[^\p{L}])(?:délégué|référent|conseill[eè]r|interlocut|delegad[oa]|encargad|encarregad|responsabil[ei]|referente|responsável|functionaris|contactpersoon|aanspreekpunt|inspektor|koordynator|opiekun|sorumlu|danışman)|负责人|专员|担当|مسؤول|مسئول`)

// Reaches says whether a sentence tells how somebody is reached, or who by name is responsible. Two
// capitals are no name by themselves, nor is a year a number to call.
func Reaches(language, sentence string) bool {
	e := EvidenceIn(language, sentence)
	switch {
	case e.Mail:
		return true
	case e.Phone && phoneForm.MatchString(dateForm.ReplaceAllString(withoutAmounts(sentence, e.Money), " ")):
		return true
	case !e.Named:
		return false
	}
	return e.has("leader", "doctor", "staff") || officeForm.MatchString(sentence) || !e.Reach && e.has("contact") // which any address of a page is, too
}

// regards says whether what was said asks whom to talk to ([regarding]), and names a matter
// beside.
func (t *talk) regards(said spoken) bool {
	for span := range t.spans(said, "regarding") {
		before, after := said.text[:span[0]], said.text[span[1]:]
		if f := t.anywhere["nature"]; f != nil && f.MatchString(t.withoutPhrases(before)+t.withoutPhrases(after)) {
			continue // "who can I talk to about you being a robot?"
		}
		if t.topical(t.plainly(before)) || t.topical(t.plainly(after)) {
			return true
		}
	}
	return false
}

// withoutPhrases is a part of what was said without the phrases that mean something together, whose
// words may be those of a speaker: "personal data" is of no person.
func (t *talk) withoutPhrases(part string) string {
	text := t.plainly(part)
	meant := search.Meanings(t.language, text)
	for _, m := range slices.Backward(meant) {
		if strings.Contains(text[m.From:m.To], " ") {
			text = text[:m.From] + text[m.To:]
		}
	}
	return hear(text, nil).text
}

// plainly is a part of what was said as it is written.
func (t *talk) plainly(part string) string {
	part = strings.ReplaceAll(part, ";", "")
	if t.wide {
		return strings.ReplaceAll(part, " ", "")
	}
	return part
}
