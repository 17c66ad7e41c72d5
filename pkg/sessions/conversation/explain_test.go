package conversation

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

// The two searches of a question that leans on the one before are both told.
func TestExplainTellsEverySearch(t *testing.T) {
	why := &Explanation{}
	r := retrieval{&Config{Knowledge: bakery, Clock: clocktesting.NewFakeClock(noon)}}
	q := Question{Text: "And on Sundays?", Previous: "When does the bakery open?", Language: "en", explain: why}
	require.NotEmpty(t, subject(q))
	_, _, err := r.find(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, []string{searchText(q), q.Text}, why.Searched)
	require.NotEqual(t, searchText(q), q.Text)
}

// Where the built-in engine answers for a model that was waited for in vain, what was
// considered is told once.
func TestExplainTellsWhatWasConsideredOnce(t *testing.T) {
	const question = "When does the bakery open?"
	alone := &Explanation{}
	_, err := asked(t, question, func(c *Config) { c.Explain = alone })
	require.NoError(t, err)
	require.NotEmpty(t, alone.Units)
	require.NotEmpty(t, alone.Candidates)
	synctest.Test(t, func(t *testing.T) {
		why := &Explanation{}
		_, err := asked(t, question, func(c *Config) {
			c.Explain = why
			c.Model = &scribe{stream: func(ctx context.Context, _ func(string) error) error {
				<-ctx.Done()
				return ctx.Err()
			}}
		})
		require.NoError(t, err)
		require.Equal(t, ByBuiltin, why.AnsweredBy)
		require.Equal(t, alone.Units, why.Units)
		require.Len(t, why.Candidates, len(alone.Candidates))
	})
}

// What is likely enough and behind a sentence that is not is weaker than no chosen one.
func TestExplainOfWhatIsBehindAnUnsureBest(t *testing.T) {
	config := Config{Knowledge: bakery, Clock: clocktesting.NewFakeClock(noon)}
	q := Question{Text: "When does the bakery open?", Language: "en"}
	passages, _, err := retrieval{&config}.find(t.Context(), q)
	require.NoError(t, err)
	found := retrieval{&config}.best(q, passages)
	require.NotEmpty(t, found.chosen)
	reasons := func() (all []string) {
		why := &Explanation{}
		why.ranked(found, passages, 0)
		for _, c := range why.Candidates {
			if !c.Chosen {
				all = append(all, c.LeftOut)
			}
		}
		return all
	}
	require.Contains(t, reasons(), leftWeaker)
	found.chosen = nil
	require.NotContains(t, reasons(), leftWeaker)
	require.Contains(t, reasons(), leftBehind)
}
