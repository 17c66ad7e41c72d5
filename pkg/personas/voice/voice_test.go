package voice

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"visavis.dev/pkg/base/language"
)

func TestStudioCoverage(t *testing.T) {
	t.Parallel()

	counts := map[string]map[string]int{language.Premier: {}, language.Global: {}}
	var native []string
	for _, voice := range Studio() {
		require.Contains(t, counts, voice.Engine, voice.Key)
		require.Contains(t, []string{"female", "male"}, voice.Gender, voice.Key)
		counts[voice.Engine][voice.Gender]++
		if voice.Engine == language.Premier {
			native = append(native, voice.PrimaryLanguage)
		}
	}
	require.GreaterOrEqual(t, len(Studio()), 16)
	for engine, genders := range counts {
		require.NotZero(t, genders[Female], engine)
		require.Equal(t, genders[Female], genders[Male], engine)
	}
	for _, spoken := range language.Catalogue() {
		if spoken.Duo {
			require.Contains(t, native, spoken.Code)
		}
	}
}

func TestStudioDescriptions(t *testing.T) {
	t.Parallel()

	seen := map[string]string{}
	for _, voice := range Studio() {
		require.NotEmpty(t, voice.Style, voice.Key)
		require.Regexp(t, `^[A-Z][^.!?]+\.$`, voice.Description, "one sentence")
		require.LessOrEqual(t, len(voice.Description), 80, voice.Key)
		for _, text := range []string{voice.Style, voice.Description} {
			require.NotContains(t, seen, text, "%s and %s are alike", voice.Key, seen[text])
			seen[text] = voice.Key
		}
	}
}

func TestStudioIsACopy(t *testing.T) {
	t.Parallel()

	changed := Studio()
	for _, voice := range changed {
		clear(voice.Languages)
	}
	clear(changed)
	for _, voice := range Studio() {
		require.NotEmpty(t, voice.Key)
		require.NotContains(t, voice.Languages, "")
	}
}

func TestStudioKeysAndNames(t *testing.T) {
	t.Parallel()

	accents := transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)))
	seen := map[string]bool{}
	for _, voice := range Studio() {
		require.Regexp(t, `^[a-z]+(-[a-z]+)*$`, voice.Key)
		require.False(t, seen[voice.Key], "%s is there twice", voice.Key)
		seen[voice.Key] = true

		// Keys being unique, names are too.
		plain, _, err := transform.String(accents, voice.Name)
		require.NoError(t, err)
		require.Equal(t, voice.Key, strings.ToLower(plain))
	}
}

func TestStudioLanguages(t *testing.T) {
	t.Parallel()

	var accents []string
	for _, accent := range language.Accents() {
		accents = append(accents, accent.Key)
	}
	for _, voice := range Studio() {
		require.Equal(t, language.EngineLanguages(voice.Engine), voice.Languages, voice.Key)
		require.Contains(t, voice.Languages, voice.PrimaryLanguage, voice.Key)
		if voice.Accent == "" {
			continue
		}
		require.Contains(t, accents, voice.Accent, voice.Key)
		of, ok := language.Lookup(voice.Accent)
		require.True(t, ok, voice.Key)
		require.Equal(t, voice.PrimaryLanguage, of.Code, "%s has another language's accent than its own", voice.Key)
	}
}

func TestStudioOrder(t *testing.T) {
	t.Parallel()

	rank := func(voice Voice) int {
		rank := 0
		if voice.Engine == language.Global {
			rank += 2
		}
		if voice.PrimaryLanguage != "en" {
			rank++
		}
		return rank
	}
	require.True(t, slices.IsSortedFunc(Studio(), func(a, b Voice) int { return rank(a) - rank(b) }))
}

func TestStudioSpeed(t *testing.T) {
	t.Parallel()

	for _, voice := range Studio() {
		require.Positive(t, voice.SpeedMin, voice.Key)
		require.Less(t, voice.SpeedMin, voice.SpeedDefault, voice.Key)
		require.Less(t, voice.SpeedDefault, voice.SpeedMax, voice.Key)
	}
}
