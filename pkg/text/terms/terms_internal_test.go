package terms

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQuery(t *testing.T) {
	require.Equal(t, []string{"schneider", "gross"}, Query("  GROẞ, Schneider "))
	require.Empty(t, Query(" *%_'-- "))
	require.Len(t, Query("a b c d e f g h i j k"), MaxQueryWords)
}

// Whatever a word of a text begins with finds it.
func TestEveryBeginningFinds(t *testing.T) {
	const maxWords = 8
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 60, -1).Draw(t, "text")
		found := Of(text, maxWords)
		for _, term := range found {
			require.True(t, utf8.ValidString(term))
			require.LessOrEqual(t, utf8.RuneCountInString(term), Letters)
		}
		for i, word := range words(fold(text)) {
			if i == maxWords {
				break
			}
			letters := []rune(word)
			asked := string(letters[:rapid.IntRange(1, len(letters)).Draw(t, "letters")])
			require.Subset(t, found, Query(asked), "%q of %q", asked, text)
		}
	})
}
