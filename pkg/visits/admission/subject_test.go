package admission

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

func english(w language.Words) string { return w["en"] }

// Of any subject, the required questions are asked, others up to the number that is
// picked, none twice, in their order or in another; the same ones each time.
func TestQuestions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			c               subject.Content
			keys, mustStand []string
		)
		for i := range rapid.IntRange(0, 12).Draw(t, "questions") {
			q := subject.Question{Key: fmt.Sprint("q", i), Text: language.Words{"en": "Why?"}, Required: rapid.Bool().Draw(t, "required")}
			if keys = append(keys, q.Key); q.Required {
				mustStand = append(mustStand, q.Key)
			}
			c.Questions = append(c.Questions, q)
		}
		c.Rules.Order = rapid.SampledFrom([]string{"fixed", "random"}).Draw(t, "order")
		many := len(keys)
		if rapid.Bool().Draw(t, "picked") {
			pick := rapid.Int64Range(1, 15).Draw(t, "pick")
			c.Rules.Pick, many = &pick, min(many, max(int(pick), len(mustStand)))
		}
		which := id.NewSession()
		goals := questions(c, which, english, nil)
		asked := make([]string, len(goals))
		for i, goal := range goals {
			asked[i] = goal.Key
		}
		require.Len(t, asked, many)
		require.Subset(t, keys, asked)
		require.Subset(t, asked, mustStand)
		if c.Rules.Order == "fixed" {
			require.True(t, slices.IsSortedFunc(asked, func(a, b string) int { return slices.Index(keys, a) - slices.Index(keys, b) }))
		}
		slices.Sort(asked)
		require.Equal(t, asked, slices.Compact(slices.Clone(asked)))
		require.Equal(t, goals, questions(c, which, english, nil))
	})
}

func TestHowAQuestionIsAsked(t *testing.T) {
	choice := subject.Question{
		Text:    language.Words{"en": "Which knot?", "de": "Welcher Knoten?"},
		Options: []subject.Option{{Key: "a", Text: language.Words{"en": "A bowline"}}, {Key: "b", Text: language.Words{"en": "A reef knot"}}},
	}
	require.Equal(t, "Which knot? A bowline; A reef knot.", asked(choice, english))
	require.Empty(t, asked(subject.Question{Text: language.Words{"de": "Warum?"}}, english), "there is nothing to say in a language that it lacks")
}

// A practice asks what is needed most, and what must be asked.
func TestAPracticeAsksWhatIsNeeded(t *testing.T) {
	c := subject.Content{}
	for _, key := range []string{"knots", "sails", "wind", "tide"} {
		c.Questions = append(c.Questions, subject.Question{Key: key, Text: language.Words{"en": "Why?"}, Required: key == "tide"})
	}
	needs := func(q subject.Question) float64 {
		return map[string]float64{"knots": 0.1, "sails": 1.4, "wind": 0.6}[q.Key]
	}
	asked := func() (keys []string) {
		for _, goal := range questions(c, id.NewSession(), english, needs) {
			keys = append(keys, goal.Key)
		}
		return keys
	}
	for range 20 {
		c.Rules.Order, c.Rules.Pick = "fixed", new(int64(3))
		require.Equal(t, []string{"sails", "wind", "tide"}, asked())
		c.Rules.Order, c.Rules.Pick = "random", nil
		require.Equal(t, []string{"sails", "wind", "knots", "tide"}, asked())
	}
}
