package person

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTerms(t *testing.T) {
	for name, test := range map[string]struct {
		of   Person
		want string
	}{
		"a name":                 {Person{Name: "Kim Lö"}, "k ki kim l lo"},
		"of digits and letters":  {Person{Name: "", ExternalID: new("S26-7")}, "2 26 7 s"},
		"an address":             {Person{Name: "", Email: new("k.l@ex.io")}, "e ex i io k l"},
		"what is there twice":    {Person{Name: "Kim", GivenName: new("KIM"), FamilyName: new("kim")}, "k ki kim"},
		"without spaces":         {Person{Name: "山田太郎"}, "太 太郎 山 山田 山田太 山田太郎 田 田太 田太郎 郎"},
		"a long word":            {Person{Name: "aaaaaaaaaaaaaaaaaaaaaaaa"}, "a aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa aaaaaaaaa aaaaaaaaaa aaaaaaaaaaa aaaaaaaaaaaa aaaaaaaaaaaaa aaaaaaaaaaaaaa aaaaaaaaaaaaaaa aaaaaaaaaaaaaaaa"},
		"nobody any more":        {Person{Name: "Kim", State: Erased}, ""},
		"no letters":             {Person{Name: " -- "}, ""},
		"marks that are letters": {Person{Name: "が"}, "が"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, strings.Fields(test.want), test.of.terms()) })
	}
	require.Equal(t, []string{"schneider", "groß"[:3] + "ss"}, queryTerms("  GROẞ, Schneider "))
	require.Empty(t, queryTerms(" *%_'-- "))
}

// Whatever a word in somebody's details begins with finds them.
func TestEveryBeginningFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Person{Name: rapid.StringN(1, 30, -1).Draw(t, "name"), ExternalID: new(rapid.StringN(0, 30, -1).Draw(t, "external id"))}
		terms := p.terms()
		for _, term := range terms {
			require.True(t, utf8.ValidString(term))
			require.LessOrEqual(t, utf8.RuneCountInString(term), termLetters)
		}
		for i, word := range words(fold(p.Name)) {
			if i == maxWords {
				break
			}
			letters := []rune(word)
			asked := string(letters[:rapid.IntRange(1, len(letters)).Draw(t, "letters")])
			require.Subset(t, terms, queryTerms(asked), "%q of %q", asked, p.Name)
		}
	})
}
