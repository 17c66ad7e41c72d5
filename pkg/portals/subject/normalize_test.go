package subject_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

// ready is a content that can be shown in English and in German.
func ready() subject.Content {
	return subject.Content{
		Intro:    said("Knots for sailors."),
		Sections: []subject.Section{{Key: "bowline", Title: said("The bowline"), Body: said("A bowline makes a loop that does not slip.")}},
		Questions: []subject.Question{{
			Key: "loop", Kind: "choice", Text: said("Which knot makes a loop?"), Points: 1, Required: true,
			Options: []subject.Option{{Key: "a", Text: said("The bowline"), Correct: true}, {Key: "b", Text: said("The hitch")}},
		}},
		Ending: subject.Ending{Message: said("Well done.")},
	}
}

func said(text string) language.Words { return language.Words{"en": text, "de": text + " (de)"} }

func TestNormalize(t *testing.T) {
	c := ready()
	c.Intro = language.Words{"German": "Hallo", "EN": "Hello", "fr": ""}
	c.Questions[0].Text = language.Words{"deutsch": "Was?"}
	c.Scenario = &subject.Scenario{}
	normalized, err := c.Normalize()
	require.NoError(t, err)
	require.Equal(t, language.Words{"de": "Hallo", "en": "Hello"}, normalized.Intro)
	require.Equal(t, language.Words{"de": "Was?"}, normalized.Questions[0].Text)
	require.Equal(t, "fixed", normalized.Rules.Order)
	require.Equal(t, "medium", normalized.Scenario.Difficulty)
	require.Equal(t, []string{"de", "en"}, normalized.Languages())
	require.NotNil(t, normalized.Sections[0].Media)
	require.NotNil(t, normalized.Questions[0].Rubric)
	require.NotNil(t, normalized.Scenario.Secrets)
	require.Equal(t, language.Words{"German": "Hallo", "EN": "Hello", "fr": ""}, c.Intro, "what was given stays as it was")
	again, err := normalized.Normalize()
	require.NoError(t, err)
	require.Equal(t, normalized, again)
}

func TestNormalizeRefuses(t *testing.T) {
	for field, change := range map[string]func(*subject.Content){
		"intro":                           func(c *subject.Content) { c.Intro["klingon"] = "nuqneH" },
		"intro.de":                        func(c *subject.Content) { c.Intro["German"] = "Hallo" },
		"sections[0].title.de":            func(c *subject.Content) { c.Sections[0].Title["de"] = " \t" },
		"sections[0].title.en":            func(c *subject.Content) { c.Sections[0].Title["en"] = strings.Repeat("é", 201) },
		"sections[1].key":                 func(c *subject.Content) { c.Sections = append(c.Sections, c.Sections[0]) },
		"questions[1].key":                func(c *subject.Content) { c.Questions = append(c.Questions, c.Questions[0]) },
		"questions[0].options[1].key":     func(c *subject.Content) { c.Questions[0].Options[1].Key = "a" },
		"questions[0].options[1].text.de": func(c *subject.Content) { c.Questions[0].Options[1].Text["de"] = strings.Repeat("x", 501) },
		"questions[0].rubric[1].key":      func(c *subject.Content) { c.Questions[0].Rubric = []subject.Criterion{{Key: "a"}, {Key: "a"}} },
		"sections[0].media[0].url":        func(c *subject.Content) { c.Sections[0].Media = []subject.Media{{URL: "javascript:alert(1)"}} },
		"sections[0].media[1].url": func(c *subject.Content) {
			c.Sections[0].Media = []subject.Media{{URL: "https://a.example"}, {URL: "http://a.example"}}
		},
		"sections[0].keyPoints[0].en": func(c *subject.Content) { c.Sections[0].KeyPoints = []language.Words{{"en": " "}} },
		"scenario.secrets[0]":         func(c *subject.Content) { c.Scenario = &subject.Scenario{Secrets: []language.Words{{"": "x"}}} },
		"ending.message.en":           func(c *subject.Content) { c.Ending.Message["en"] = strings.Repeat("x", 2001) },
		"questions[0].rubric[0].levels[0].description.en": func(c *subject.Content) {
			c.Questions[0].Rubric = []subject.Criterion{{Levels: []subject.Level{{Description: language.Words{"en": "\n"}}}}}
		},
	} {
		t.Run(field, func(t *testing.T) {
			c := ready()
			change(&c)
			_, err := c.Normalize()
			var wrong *errdefs.Invalid
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, field, wrong.Field)
			require.NotEmpty(t, wrong.Message)
		})
	}
}

func TestNormalizeRefusesWhatIsTooLarge(t *testing.T) {
	c := ready()
	long := strings.Repeat("x", 20_000)
	for i := range 100 {
		c.Sections = append(c.Sections, subject.Section{Key: "k" + strings.Repeat("a", i), Title: said("t"), Body: language.Words{"en": long, "de": long}})
	}
	_, err := c.Normalize()
	require.ErrorIs(t, err, subject.ErrTooLarge)
}

// Whatever the languages are called, what is normalized stays as it is.
func TestSettlingTwiceChangesNothing(t *testing.T) {
	names := []string{"en", "EN", "English", "de", "deutsch", "pt-br", "zh-TW", "xx", ""}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.MapOfN(rapid.SampledFrom(names), rapid.StringN(0, 20, -1), 0, 3)
		c := subject.Content{Intro: words.Draw(t, "intro")}
		for i := range rapid.IntRange(0, 3).Draw(t, "sections") {
			c.Sections = append(c.Sections, subject.Section{Key: string(rune('a' + i)), Title: words.Draw(t, "title"), Body: words.Draw(t, "body")})
		}
		normalized, err := c.Normalize()
		if err != nil {
			return
		}
		again, err := normalized.Normalize()
		require.NoError(t, err)
		require.Equal(t, normalized, again)
	})
}

func TestNormalizeDefinition(t *testing.T) {
	d := subject.Definition{Objectives: []subject.Objective{{Key: "a", Text: language.Words{"German": "Knoten"}}}}
	normalized, err := d.Normalize()
	require.NoError(t, err)
	require.Equal(t, language.Words{"de": "Knoten"}, normalized.Objectives[0].Text)
	require.Equal(t, language.Words{"German": "Knoten"}, d.Objectives[0].Text)
	require.NotNil(t, normalized.KnowledgeBaseIDs)
	require.NotNil(t, normalized.Prerequisites)

	for field, objectives := range map[string][]subject.Objective{
		"objectives[1].key":     {{Key: "a"}, {Key: "a"}},
		"objectives[0].text":    {{Key: "a", Text: language.Words{"?": "x"}}},
		"objectives[0].text.en": {{Key: "a", Text: language.Words{"en": strings.Repeat("x", 501)}}},
	} {
		_, err := (&subject.Definition{Objectives: objectives}).Normalize()
		var wrong *errdefs.Invalid
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
}
