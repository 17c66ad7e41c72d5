package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A question is looked up with the words of the one before only where it says too
// little by itself: else a new subject would be answered from the old one.
func TestWhatLeansOnTheQuestionBefore(t *testing.T) {
	for text, want := range map[string]bool{
		"And on Sundays?":        true,
		"Why?":                   true,
		"What about children?":   true,
		"How much does it cost?": true, // "it"
		"What is a fresco?":      false,
		"When are you open?":     false,
	} {
		require.Equal(t, want, leans(Question{Text: text, Language: "en"}), text)
	}
	for text, want := range map[string]bool{
		"Und am Sonntag?":          true,
		"Was ist ein Fresko?":      false,
		"Wann haben Sie geöffnet?": false,
	} {
		require.Equal(t, want, leans(Question{Text: text, Language: "de"}), text)
	}
}

// What a pack shares little with is looked at where it has nothing better, and what has
// half as much is left out: but never against a score that somebody set.
func TestTheLeastScore(t *testing.T) {
	found := []Passage{{Score: 0.06}, {Score: 0.01}}
	require.InDelta(t, 0.03, retrieval{&Config{}}.leastOf(found), 1e-9)
	require.InDelta(t, 0.2, retrieval{&Config{MinScore: 0.2}}.leastOf(found), 1e-9)
	require.InDelta(t, DefaultMinScore, retrieval{&Config{}}.leastOf(append(found, Passage{Score: 0.9})), 1e-9)
	require.InDelta(t, DefaultMinScore, retrieval{&Config{}}.leastOf(nil), 1e-9)
}
