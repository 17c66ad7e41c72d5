package lexicon

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every concept has words in every language, and each word once.
func TestConceptsAreWhole(t *testing.T) {
	all, err := read(files)
	require.NoError(t, err)
	require.Greater(t, len(all), 120)
	for _, c := range all {
		for _, language := range Languages() {
			require.NotEmpty(t, c.Words[language], "%s has no words in %s", c.Key, language)
		}
		for language := range c.Words {
			require.True(t, slices.Contains(Languages(), language), "%s: %s is no language of the lexicon", c.Key, language)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"words before a concept": "  en open\n", "a language without words": "hours\n  en\n", "an unknown flag": "hours heavy\n",
	} {
		_, err := parse(text)
		require.Error(t, err, name)
	}
}
