package question

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

func content(order string, pick int64, keys ...string) (c subject.Content) {
	c.Rules = subject.Rules{Order: order, Pick: &pick}
	for _, key := range keys {
		c.Questions = append(c.Questions, subject.Question{Key: key, Kind: "open", Text: language.Words{"en": key + "?", "de": key + " auf Deutsch?"}, FollowUps: 1})
	}
	return c
}

// What is drawn by chance follows from the role and what is asked, and from nothing else; whatever makes a difference to a
// candidate makes another hash.
func TestWhatIsDrawn(t *testing.T) {
	t.Parallel()
	r := id.Role{1} // of which the draw is not the order that the questions stand in
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	of := func(change func(*subject.Content)) string {
		c := content("random", 4, keys...)
		if change != nil {
			change(&c)
		}
		return text(draw(r, c, "en"))
	}
	same := of(nil)
	require.Equal(t, same, of(nil))
	require.Equal(t, same, of(func(c *subject.Content) {
		c.Title, c.Intro = language.Words{"en": "Other"}, language.Words{"en": "Other"}
	}), "candidates are not asked it")
	limit := int64(30)
	for name, change := range map[string]func(*subject.Content){
		"words": func(c *subject.Content) {
			for i := range c.Questions {
				c.Questions[i].Text = language.Words{"en": "Other?"}
			}
		},
		"a language": func(c *subject.Content) {
			for i := range c.Questions {
				delete(c.Questions[i].Text, "de")
			}
		},
		"more":  func(c *subject.Content) { c.Rules.Pick = new(int64(5)) },
		"order": func(c *subject.Content) { c.Rules.Order = "fixed" },
		"follow-ups": func(c *subject.Content) {
			for i := range c.Questions {
				c.Questions[i].FollowUps = 2
			}
		},
		"time": func(c *subject.Content) {
			for i := range c.Questions {
				c.Questions[i].TimeLimitS = &limit
			}
		},
		"points": func(c *subject.Content) {
			for i := range c.Questions {
				c.Questions[i].Points = 3
			}
		},
		"rubrics": func(c *subject.Content) {
			for i := range c.Questions {
				c.Questions[i].Rubric = []subject.Criterion{{Key: "x", Weight: 1}}
			}
		},
	} {
		require.NotEqual(t, Hash(same), Hash(of(change)), name)
	}
	// Roles draw apart: of so many one draws others.
	others := 0
	for range 20 {
		if text(draw(id.NewRole(), content("random", 4, keys...), "en")) != same {
			others++
		}
	}
	require.Positive(t, others)
	// No right answer, and nothing of a rubric but its digest, is in what is handed out.
	c := content("fixed", 1, "a")
	c.Questions[0].Options = []subject.Option{{Key: "right", Text: language.Words{"en": "Yes"}, Correct: true}}
	c.Questions[0].Rubric = []subject.Criterion{{Key: "secret", Points: []subject.Point{{Text: language.Words{"en": "The answer"}}}}}
	said := text(draw(r, c, "en"))
	for _, hidden := range []string{"correct", "secret", "The answer"} {
		require.NotContains(t, said, hidden)
	}
}

func TestPromptsFallBackToThePortalsLanguage(t *testing.T) {
	t.Parallel()
	d := Document{Language: "de"}
	q := Question{Text: language.Words{"de": "Welcher?", "en": "Which?"}, Options: []Option{{"a", language.Words{"de": "Dieser", "en": "This"}}, {"b", language.Words{"de": "Jener"}}}}
	require.Equal(t, "Which? This; Jener.", d.Prompt(q, "en"))
	require.Equal(t, "Welcher? Dieser; Jener.", d.Prompt(q, "fr"))
	require.Empty(t, d.Prompt(Question{}, "en"))
}
