package subject

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/language"
)

func TestLesson(t *testing.T) {
	words := func(text string) language.Words { return language.Words{"en": text, "de": text + " (de)"} }
	c := Content{
		Title: language.Words{"de": "Deutsch"},
		Intro: words("Intro."),
		Sections: []Section{
			{Key: "a", Title: words("A"), Body: language.Words{"en": "Body of **A**.\n\nMore."}, KeyPoints: []language.Words{words("One"), words("Two")}},
			{Key: "b", Title: language.Words{"de": "B"}},
		},
		Questions: []Question{
			{Key: "q", Text: words("Why?"), Options: []Option{{Key: "x", Text: words("So."), Correct: true}, {Key: "y", Text: words("No.")}}},
			{Key: "r", Text: words("Who?")},
		},
		Scenario: &Scenario{Secrets: []language.Words{words("Secret")}},
	}
	s := Subject{Title: "Knots", Kind: Assessment}
	require.Equal(t, "# Knots\n\nIntro.\n\n## A\n\nBody of **A**.\n\nMore.\n\n- One\n\n- Two\n", Lesson(s, c, "en"), "answers stay secret")
	require.Equal(t, "# Deutsch\n\nIntro. (de)\n\n## A (de)\n\n- One (de)\n\n- Two (de)\n\n## B\n", Lesson(s, c, "de"))
	require.Empty(t, Lesson(s, c, "fr"))
	s.Kind = FAQ
	require.Contains(t, Lesson(s, c, "en"), "## Why?\n\nSo.\n")
	require.NotContains(t, Lesson(s, c, "en"), "No.")
	require.NotContains(t, Lesson(s, c, "en"), "Who?", "nobody said the answer")
}
