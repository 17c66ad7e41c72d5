package screening_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
)

// The scorer is given what is asked and what was said, and nothing else: no sound, no picture, no
// times, and nobody.
func TestTheScorersInputHasWordsAlone(t *testing.T) {
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[screening.Words]()) {
		fields = append(fields, f.Name+" "+f.Type.String())
	}
	require.Equal(t, []string{"Language string", "Questions []subject.Question", "Answers map[string]rubric.Answer"}, fields)
	var answer []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[rubric.Answer]()) {
		answer = append(answer, f.Name+" "+f.Type.String())
	}
	require.Equal(t, []string{"Text string", "Kept bool", "Unasked bool", "Foreign bool"}, answer)
}

func TestScores(t *testing.T) {
	q := subject.Question{Key: "shift", Kind: "choice", Points: 2, Text: language.Words{"en": "Can you work at night?"}, Options: []subject.Option{
		{Key: "yes", Text: language.Words{"en": "Night shifts"}, Correct: true}, {Key: "no", Text: language.Words{"en": "Day shifts"}},
	}}
	score := func(says string) screening.Card {
		return screening.Score(screening.Words{Language: "en", Questions: []subject.Question{q}, Answers: map[string]rubric.Answer{"shift": {Text: says, Kept: true}}})
	}
	right := score("Night shifts")
	require.InDelta(t, 100, *right.Percent, 0)
	require.Equal(t, "strong", *right.Band)
	require.Equal(t, "weak", *score("Day shifts").Band)
	// What nobody can judge has no points, and no band.
	q.Kind, q.Options = "open", nil
	open := score("I like boats")
	require.Nil(t, open.Percent)
	require.Nil(t, open.Band)
	require.Nil(t, open.Criteria[0].Score)
}
