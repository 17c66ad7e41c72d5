package rubric

import (
	"slices"
	"strings"

	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/search"
)

// Asked says whether the avatar was heard to put the question of a key.
func Asked(s session.Session, turns []session.Turn, key string) bool {
	for _, goal := range s.Brief.Goals {
		if goal.Key != key {
			continue
		}
		put := search.NewPhrase(goal.Prompt)
		return slices.ContainsFunc(turns, func(t session.Turn) bool {
			return t.Speaker == session.Avatar && search.NewPhrase(t.Heard()).Has(put)
		})
	}
	return false
}

// Foreign says whether words of an answer were said while another language than that of a code was
// spoken.
func Foreign(code, said string, turns []session.Turn) bool {
	return slices.ContainsFunc(turns, func(t session.Turn) bool {
		heard := strings.TrimSpace(t.Heard())
		return t.Speaker == session.User && heard != "" && strings.Contains(said, heard) && !conversation.SameLanguage(t.Language, code)
	})
}
