package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

func TestQuestionsAreSpelledOut(t *testing.T) {
	for _, c := range []struct{ language, typed, meant string }{
		{"en", "whats ur parkng", "what is your parking"},
		{"en", "do u have wiffi?", "do you have wifi?"},
		{"de", "gibts hier ne kantiene", "gibt es hier eine kantine"},
		{"ja", "開館時間は？", "開館時間は？"},
		{"en", "is the tower open", "is the tower open"},
		{"es", "pasado mañana", "pasado mañana"}, // and not "pesado": each word of a phrase is one
	} {
		require.Equal(t, c.meant, answer.Spelled(c.language, c.typed, []string{"kantine", "tower"}), c.typed)
	}
}
