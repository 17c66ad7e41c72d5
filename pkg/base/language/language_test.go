package language

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	bcp47 "golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

func TestCatalogueCodes(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}
	for _, language := range Catalogue() {
		require.False(t, seen[language.Code], "%s is listed twice", language.Code)
		seen[language.Code] = true

		for _, canonical := range []bcp47.CanonType{bcp47.Default, bcp47.All | bcp47.CLDR} {
			tag, err := canonical.Parse(language.Code)
			require.NoError(t, err, language.Code)
			require.Equal(t, language.Code, tag.String())
		}
	}
	require.GreaterOrEqual(t, len(seen), 44)
}

func TestCatalogueDuo(t *testing.T) {
	t.Parallel()

	names := map[string]string{}
	for _, language := range Catalogue() {
		if language.Duo {
			names[language.Code] = language.DuoName
			require.False(t, language.Beta, language.Code)
		} else {
			require.Empty(t, language.DuoName, language.Code)
		}
	}
	require.Equal(t, map[string]string{
		"de":      "German",
		"en":      "English",
		"es":      "Spanish",
		"fr":      "French",
		"hi":      "Hindi",
		"it":      "Italian",
		"ja":      "Japanese",
		"ko":      "Korean",
		"pt-BR":   "Portuguese",
		"zh-Hans": "Chinese",
	}, names)
}

func TestCatalogueIsACopy(t *testing.T) {
	t.Parallel()

	clear(Catalogue())
	require.NotContains(t, Catalogue(), Language{})
}

func TestCatalogueNames(t *testing.T) {
	t.Parallel()

	// The same word in English and in the language itself.
	alike := []string{"af", "en", "fil"}

	var names, natives []string
	for _, language := range Catalogue() {
		require.NotEmpty(t, language.Name, language.Code)
		require.NotEmpty(t, language.NativeName, language.Code)
		require.True(t, norm.NFC.IsNormalString(language.NativeName), language.Code)
		require.Equal(t, slices.Contains(alike, language.Code), language.Name == language.NativeName, language.Code)
		names = append(names, language.Name)
		natives = append(natives, language.NativeName)
	}
	require.IsIncreasing(t, names)

	slices.Sort(natives)
	require.Len(t, slices.Compact(natives), len(names), "two languages share a native name")
}

func TestCatalogueNativeNames(t *testing.T) {
	t.Parallel()

	for code, want := range map[string]string{
		"ar":      "العربية",
		"az":      "azərbaycan dili",
		"cs":      "čeština",
		"cy":      "Cymraeg",
		"de":      "Deutsch",
		"el":      "Ελληνικά",
		"es":      "español",
		"fil":     "Filipino",
		"fr":      "français",
		"he":      "עברית",
		"hi":      "हिन्दी",
		"id":      "Bahasa Indonesia",
		"is":      "íslenska",
		"ja":      "日本語",
		"km":      "ភាសាខ្មែរ",
		"ko":      "한국어",
		"lo":      "ພາສາລາວ",
		"ms":      "Bahasa Melayu",
		"my":      "မြန်မာဘာသာ",
		"nb":      "norsk bokmål",
		"nl":      "Nederlands",
		"pt-BR":   "português do Brasil",
		"pt-PT":   "português de Portugal",
		"ru":      "русский",
		"sw":      "Kiswahili",
		"th":      "ภาษาไทย",
		"tr":      "Türkçe",
		"uk":      "українська",
		"uz":      "oʻzbekcha",
		"vi":      "Tiếng Việt",
		"yue":     "粵語",
		"zh-Hans": "简体中文",
		"zh-Hant": "繁體中文",
		"zu":      "isiZulu",
	} {
		language, ok := Lookup(code)
		require.True(t, ok, code)
		require.Equal(t, want, language.NativeName, code)
	}
}

// A row that names a language not in the catalogue, or corrects nothing, would
// otherwise lie there unnoticed.
func TestCatalogueCorrectionsAreUsed(t *testing.T) {
	t.Parallel()

	for code, name := range nativeNames {
		require.Contains(t, standings, code)
		require.NotEqual(t, display.Self.Name(bcp47.MustParse(code)), name, code)
	}
	for name, code := range otherNames {
		require.Contains(t, standings, code, name)
	}
}
