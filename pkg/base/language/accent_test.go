package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAccents(t *testing.T) {
	t.Parallel()

	accents := Accents()
	require.GreaterOrEqual(t, len(accents), 12)

	var labels []string
	for _, accent := range accents {
		require.Regexp(t, `^[a-z]+$`, accent.Key)

		of, ok := Lookup(accent.Key)
		require.True(t, ok, "%s is no language", accent.Key)
		require.NotEqual(t, "en", of.Code, "an accent is another language's")

		named, ok := Lookup(accent.Label[:len(accent.Label)-len(" accent")])
		require.True(t, ok, accent.Label)
		require.Equal(t, of, named, "%s is labelled %s", accent.Key, accent.Label)
		labels = append(labels, accent.Label)
	}
	require.IsIncreasing(t, labels)
	require.Contains(t, accents, Accent{Key: "french", Label: "French accent"})
}

func TestAccentsIsACopy(t *testing.T) {
	t.Parallel()

	clear(Accents())
	require.NotContains(t, Accents(), Accent{})
}
