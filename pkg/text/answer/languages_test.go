package answer_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// What kind of answer is asked for, in the ways of asking of each language.
func TestKindsInEveryLanguage(t *testing.T) {
	t.Parallel()

	for line := range strings.Lines(kindsAsked) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(strings.TrimSpace(line), " ", 3)
		require.Len(t, parts, 3, line)
		require.Equal(t, answer.Kind(parts[1]), answer.KindOf(parts[0], parts[2]), line)
	}
}

//go:embed testdata/kinds.txt
var kindsAsked string

// What sentences have of amounts, times and lengths of time, as each language writes them.
func TestFormsInEveryLanguage(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		language string
		kind     answer.Kind
		texts    []string
	}{} {
		for _, text := range c.texts {
			e := answer.EvidenceIn(c.language, text)
			require.GreaterOrEqual(t, e.Fits(c.kind), 0.7, text)
		}
	}
	for _, text := range []string{"try 2 classes", "100 gr of bread"} {
		e := answer.EvidenceIn("en", text)
		require.False(t, e.Money, text)
	}
	e := answer.EvidenceIn("it", "alle 12 persone presenti")
	require.False(t, e.Time)
	e = answer.EvidenceIn("es", "El campus está a 3 kilómetros del centro.")
	require.True(t, e.Far)
}
