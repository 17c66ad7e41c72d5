package conversation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is understood is bounded, however much a recognition says that was spoken.
func TestUnderstoodWordsAreBounded(t *testing.T) {
	hears(t, nil, func(v *voice, _ *recorder) {
		v.begins()
		v.understood(strings.Repeat("word ", 20*maxTextRunes), false)
		require.LessOrEqual(t, len(v.c.ear.words()), maxTextRunes)
		v.begins()
		v.understood(strings.Repeat("more ", 20*maxTextRunes), false)
		require.NotEmpty(t, v.turns(), "what is too long is taken at once")
		require.LessOrEqual(t, len(v.turns()[0].Text), maxTextRunes)
	})
	many := make([]string, 3000)
	for i := range many {
		many[i] = "word"
	}
	alike, rest := 0, []string{}
	rows := testing.AllocsPerRun(1, func() { alike, rest = align(many, many) })
	require.Less(t, rows, 1000.0)
	require.Equal(t, len(many), alike+len(rest), "what is not compared is not alike")
}
