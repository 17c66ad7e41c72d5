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
