package subject_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

func TestCheck(t *testing.T) {
	type (
		problems = []string
		warnings = []string
	)
	for name, test := range map[string]struct {
		change   func(*subject.Subject, *subject.Content)
		problems problems
		warnings warnings
	}{
		"ready":   {func(*subject.Subject, *subject.Content) {}, nil, nil},
		"nothing": {func(_ *subject.Subject, c *subject.Content) { *c = subject.Content{} }, problems{"content"}, nil},
		"texts in one language": {func(_ *subject.Subject, c *subject.Content) {
			delete(c.Intro, "de")
			delete(c.Sections[0].Title, "en")
			delete(c.Sections[0].Body, "de")
			delete(c.Questions[0].Text, "de")
			delete(c.Questions[0].Options[1].Text, "de")
		}, problems{
			"content.intro.de", "content.sections[0].title.en", "content.sections[0].body.de", "content.questions[0].text.de",
			"content.questions[0].options[1].text.de",
		}, nil},
		"no title": {func(_ *subject.Subject, c *subject.Content) { c.Sections[0].Title = nil },
			problems{"content.sections[0].title.en", "content.sections[0].title.de"}, nil},
		"an empty section": {func(_ *subject.Subject, c *subject.Content) { c.Sections[0].Body = nil },
			nil, warnings{"content.sections[0].body"}},
		"what stands beside": {func(s *subject.Subject, c *subject.Content) {
			c.Sections[0].Media = []subject.Media{{Kind: "link", URL: "https://a.example", Alt: language.Words{"en": "a"}}, {Kind: "link", URL: "https://a.example"}}
			c.Sections[0].KeyPoints = []language.Words{{"de": "a"}}
			s.Definition.Objectives = []subject.Objective{{Key: "a", Text: language.Words{"de": "a"}}}
		}, nil, warnings{"content.sections[0].media[0].alt.de", "content.sections[0].keyPoints[0].en", "objectives[0].text.en"}},
		"an open question has no options": {func(_ *subject.Subject, c *subject.Content) {
			c.Questions[0].Kind, c.Questions[0].Options = "open", nil
		}, nil, nil},
		"one option": {func(_ *subject.Subject, c *subject.Content) { c.Questions[0].Options = c.Questions[0].Options[1:] },
			problems{"content.questions[0].options", "content.questions[0].options"}, nil},
		"no right option": {func(_ *subject.Subject, c *subject.Content) { c.Questions[0].Options[0].Correct = false },
			problems{"content.questions[0].options"}, nil},
		"a rubric without weight": {func(_ *subject.Subject, c *subject.Content) {
			c.Questions[0].Rubric = []subject.Criterion{{Key: "a", Label: said("a")}, {Key: "b", Label: said("b")}}
		}, problems{"content.questions[0].rubric"}, nil},
		"a rubric with weight": {func(_ *subject.Subject, c *subject.Content) {
			c.Questions[0].Rubric = []subject.Criterion{{Key: "a", Label: said("a")}, {Key: "b", Label: said("b"), Weight: 0.1}}
		}, nil, nil},
		"assessed":                   {func(s *subject.Subject, _ *subject.Content) { s.Definition.Assessed = true }, problems{"passPercent"}, nil},
		"assessed without questions": {func(s *subject.Subject, c *subject.Content) { assess(s); c.Questions = nil }, problems{"content.questions"}, nil},
		"assessed without points":    {func(s *subject.Subject, c *subject.Content) { assess(s); c.Questions[0].Points = 0 }, problems{"content.questions"}, nil},
		"assessed and well":          {func(s *subject.Subject, _ *subject.Content) { assess(s) }, nil, nil},
		"more to pick than there is": {func(_ *subject.Subject, c *subject.Content) { c.Rules.Pick = new(int64(2)) }, problems{"content.rules.pick"}, nil},
		"more required than picked": {func(_ *subject.Subject, c *subject.Content) {
			other := c.Questions[0]
			other.Key = "other"
			c.Questions, c.Rules.Pick = append(c.Questions, other), new(int64(1))
		}, problems{"content.rules.pick"}, nil},
		"a key twice":           {func(_ *subject.Subject, c *subject.Content) { c.Questions[0].Options[1].Key = "a" }, problems{"content.questions[0].options[1].key"}, nil},
		"media of old":          {func(_ *subject.Subject, c *subject.Content) { c.Sections[0].Media = []subject.Media{{URL: "http://a"}} }, problems{"content.sections[0].media[0].url"}, nil},
		"a practice of nothing": {func(s *subject.Subject, _ *subject.Content) { s.Kind = subject.Practice }, problems{"content.scenario"}, nil},
		"a practice": {func(s *subject.Subject, c *subject.Content) {
			s.Kind, c.Scenario = subject.Practice, &subject.Scenario{Setting: said("a"), AvatarRole: said("b"), LearnerRole: language.Words{"en": "c"}}
		}, problems{"content.scenario.learnerRole.de"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := subject.Subject{Kind: subject.Course}, ready()
			test.change(&s, &c)
			now := time.Date(2026, 10, 2, 0, 0, 0, 0, time.UTC)
			r := subject.Check(s, c, []string{"en", "de"}, now)
			require.Equal(t, test.problems, fields(r.Problems))
			require.Equal(t, test.warnings, fields(r.Warnings))
			require.Equal(t, len(test.problems) == 0, r.Ready())
			require.Equal(t, now, r.CheckedAt)
		})
	}
}

func assess(s *subject.Subject) {
	s.Definition.Assessed, s.Definition.PassPercent = true, new(int64(60))
}

func fields(found []golive.Finding) (names []string) {
	for _, f := range found {
		names = append(names, f.Field)
	}
	return slices.Clip(names)
}
