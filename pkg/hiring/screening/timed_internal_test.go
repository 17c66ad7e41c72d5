package screening

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
)

// What may have been said in its time and was not heard is scored by people, and meets no knockout.
func TestWhatIsDoubtfulInItsTimeIsNotSure(t *testing.T) {
	w := Words{
		Language: "en", Questions: []subject.Question{{Key: "shift", Kind: "choice", Points: 2, Text: language.Words{"en": "Can you work at night?"}, Options: []subject.Option{
			{Key: "yes", Text: language.Words{"en": "Night shifts"}, Correct: true}, {Key: "no", Text: language.Words{"en": "Day shifts"}},
		}}},
		Answers: map[string]rubric.Answer{"shift": {Text: "Day shifts", Kept: true}},
	}
	knocks := []role.Knockout{{Question: "shift", Rule: role.KnockoutRule{AnyOf: []string{"no"}}}}
	clocks := &session.Clocks{Questions: map[string]session.Clock{"shift": {LimitS: 10, Came: session.RanOut}}}
	require.Equal(t, 0.95, w.scored(clocks).Criteria[0].Confidence)
	require.Equal(t, session.RanOut, w.scored(clocks).Criteria[0].Time)
	require.True(t, *knockouts(w, knocks, clocks)[0].Met)
	clocks.Questions["shift"] = session.Clock{LimitS: 10, Came: session.RanOut, Doubts: []session.Doubt{session.LateWords}}
	require.Less(t, w.scored(clocks).Criteria[0].Confidence, rubric.Least)
	require.Nil(t, knockouts(w, knocks, clocks)[0].Met)
	w.Answers["shift"] = rubric.Answer{Kept: true}
	require.Nil(t, w.scored(clocks).Criteria[0].Score, "nobody fails by words that came late")
}
