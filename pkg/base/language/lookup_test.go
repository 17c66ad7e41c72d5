package language

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestLookup(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ name, asked, code string }{
		{"code", "de", "de"},
		{"code in capitals", "DE", "de"},
		{"code in mixed case", "Zh-hANS", "zh-Hans"},
		{"code with region", "pt-br", "pt-BR"},
		{"code with underscore", "pt_PT", "pt-PT"},
		{"code in white space", " fr\n", "fr"},
		{"code of three letters", "deu", "de"},
		{"code with extension", "en-u-ca-buddhist", "en"},
		{"code retired", "iw", "he"},
		{"code of Norwegian at large", "no", "nb"},
		{"code of Mandarin", "cmn", "zh-Hans"},
		{"code of Cantonese under Chinese", "zh-yue", "yue"},

		{"region not listed", "en-AU", "en"},
		{"region not listed, Spanish", "es-MX", "es"},
		{"region not listed, in white space", " de-AT\n", "de"},
		{"region unknown", "en-ZZ", "en"},
		{"region near Portugal", "pt-AO", "pt-PT"},
		{"region near Brazil", "pt-US", "pt-BR"},
		{"region left out", "pt", "pt-BR"},
		{"region implies simplified", "zh-SG", "zh-Hans"},
		{"region implies traditional", "zh-TW", "zh-Hant"},
		{"script left out", "zh", "zh-Hans"},
		{"script with region", "zh-Hant-HK", "zh-Hant"},
		{"script not listed", "sr-Latn", "sr"},
		{"script nothing is written in", "zh-Latn", "zh-Hans"},

		{"English name", "Swahili", "sw"},
		{"English name in capitals", "NORWEGIAN BOKMÅL", "nb"},
		{"English name without accents", "norwegian bokmal", "nb"},
		{"English name with wide spaces", "  Brazilian \t Portuguese ", "pt-BR"},
		{"English name for duos", "chinese", "zh-Hans"},
		{"English name in other use", "Bengali", "bn"},

		{"native name", "Tiếng Việt", "vi"},
		{"native name without accents", "tieng viet", "vi"},
		{"native name decomposed", norm.NFD.String("čeština"), "cs"},
		{"native name in Greek capitals", "ΕΛΛΗΝΙΚΑ", "el"},
		{"native name in Turkish capitals", "TÜRKÇE", "tr"},
		{"native name with typewriter apostrophe", "o'zbekcha", "uz"},
		{"native name in Unicode's short form", "ไทย", "th"},
		{"native name in other use", "हिंदी", "hi"},
		{"native name of the script at large", "中文", "zh-Hans"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			language, ok := Lookup(test.asked)
			require.True(t, ok)
			require.Equal(t, test.code, language.Code)
		})
	}
}

func TestLookupFindsNothing(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ name, asked string }{
		{"empty", ""},
		{"white space", " \t\n"},
		{"apostrophe only", "'"},
		{"junk", "not a language"},
		{"junk after a code", "en; drop table"},
		{"junk well formed", "xx"},
		{"invalid UTF-8", "\xff\xfe"},
		{"NUL", "en\x00"},
		{"undetermined", "und"},
		{"undetermined with region", "und-BR"},
		{"root", "root"},
		{"several", "mul"},
		{"list", "en, fr"},
		{"private use", "x-en"},
		{"part of a name", "Portug"},
		{"vowel sign left out", "ગજરાતી"},
		{"close to German", "lb"},
		{"close to Bokmål", "nn"},
		{"close to Arabic", "arz"},
		{"real, not listed", "tlh"},
		{"very long", strings.Repeat("en-", 1_000_000)},
		{"very long white space", strings.Repeat(" ", 1_000) + "en"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			language, ok := Lookup(test.asked)
			require.False(t, ok, "found %s", language.Code)
			require.Zero(t, language)
		})
	}
}

func TestLookupFindsEveryOtherName(t *testing.T) {
	t.Parallel()

	for name, code := range otherNames {
		language, ok := Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, code, language.Code, name)
	}
}

func TestLookupFindsItself(t *testing.T) {
	t.Parallel()

	for _, language := range Catalogue() {
		for _, asked := range []string{language.Code, language.Name, language.NativeName} {
			found, ok := Lookup(asked)
			require.True(t, ok, asked)
			require.Equal(t, language, found, asked)
		}
	}
}

func TestLookupIgnoresSpelling(t *testing.T) {
	t.Parallel()

	spellings := map[string]func(string) string{
		"as is":           func(s string) string { return s },
		"capitals":        strings.ToUpper,
		"small":           strings.ToLower,
		"decomposed":      norm.NFD.String,
		"without accents": withoutLatinAccents,
		"spaced":          func(s string) string { return " " + strings.ReplaceAll(s, " ", "  ") + "\t" },
	}
	rapid.Check(t, func(t *rapid.T) {
		language := rapid.SampledFrom(Catalogue()).Draw(t, "language")
		asked := rapid.SampledFrom([]string{language.Code, language.Name, language.NativeName}).Draw(t, "asked")
		for range 2 {
			spelling := rapid.SampledFrom(slices.Sorted(maps.Keys(spellings))).Draw(t, "spelling")
			asked = spellings[spelling](asked)
		}
		found, ok := Lookup(asked)
		require.True(t, ok, asked)
		require.Equal(t, language, found, asked)
	})
}

// withoutLatinAccents writes a name as on a keyboard that has no accents.
func withoutLatinAccents(name string) string {
	accents := transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC)
	plain, _, err := transform.String(accents, name)
	if err != nil || strings.ContainsFunc(name, outsideLatin) {
		return name
	}
	return plain
}

func outsideLatin(r rune) bool {
	return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
}

func FuzzLookup(f *testing.F) {
	for _, language := range Catalogue() {
		f.Add(language.Code)
		f.Add(language.NativeName)
	}
	for _, asked := range []string{"", "und-BR", "zh-Latn-pinyin", "en-u-ca-buddhist", "i-klingon", "x-y", "\xff", "a-DE", "sr_Latn_ME"} {
		f.Add(asked)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		language, ok := Lookup(asked)
		if !ok {
			require.Zero(t, language)
			return
		}
		require.Contains(t, Catalogue(), language)
	})
}
