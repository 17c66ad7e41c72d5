package language

import (
	"strings"
	"unicode"

	bcp47 "golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// longestInput is in bytes and well above every code and name here. Anything
// longer is refused before work is spent on it: what is looked up is a caller's.
const longestInput = 100

var (
	index         = compileIndex()
	tags, matcher = compileMatcher()
)

// Lookup finds a language by what a caller may send for it, "by code or name"
// ("Languages"):
//
//   - a BCP 47 code, whatever its case; a region or script the catalogue does
//     not list falls back to the nearest form of the same language that it does
//     ("en-AU" is "en", "zh-TW" is "zh-Hant"), and retired or three-letter codes
//     are read as today's ("iw" is "he");
//   - an English or native name, whatever its case, with or without accents.
//
// It never answers with another language than the one asked for, however close.
func Lookup(codeOrName string) (Language, bool) {
	if len(codeOrName) > longestInput {
		return Language{}, false
	}
	if language, ok := index[fold(codeOrName)]; ok {
		return language, true
	}
	return nearest(strings.TrimSpace(codeOrName))
}

// Key is the code of a language by what Lookup takes for it, and what is no
// language as it is. Texts by language have such keys.
func Key(codeOrName string) string {
	if found, ok := Lookup(codeOrName); ok {
		return found.Code
	}
	return codeOrName
}

// ForModel names a language to a model, by its English name and its code; what is no language is
// named as it is.
func ForModel(code string) string {
	if found, ok := Lookup(code); ok {
		return found.Name + " (" + found.Code + ")"
	}
	return code
}

// nearest reads code as a tag and finds the form of its language that the
// catalogue lists.
func nearest(code string) (Language, bool) {
	// CLDR keeps "nb" as it is and reads "no" as "nb"; without it, it is the
	// other way round.
	asked, err := (bcp47.All | bcp47.CLDR).Parse(code)
	if err != nil {
		return Language{}, false
	}
	base, _, _ := asked.Raw()
	alone := bcp47.Make(base.String())
	// The language alone comes second, for scripts that nothing here is written
	// in: the matcher finds no match across scripts, but speech has none.
	for _, wanted := range []bcp47.Tag{asked, alone} {
		_, i, _ := matcher.Match(wanted)
		// The matcher always offers something, and by its lights with confidence:
		// German for Luxembourgish, say, which its readers understand. A voice
		// must not speak another language unasked.
		if listed, _, _ := tags[i].Raw(); listed == base {
			return catalogue[i], true
		}
	}
	return Language{}, false
}

func compileIndex() map[string]Language {
	found := make(map[string]Language, 4*len(catalogue))
	byCode := make(map[string]Language, len(catalogue))
	for _, language := range catalogue {
		byCode[language.Code] = language
		// What x/text calls the language itself stays good where the name shown
		// is a correction of it.
		unicodeName := display.Self.Name(bcp47.MustParse(language.Code))
		for _, name := range []string{language.Code, language.Name, language.NativeName, language.DuoName, unicodeName} {
			if name != "" {
				found[fold(name)] = language
			}
		}
	}
	for name, code := range otherNames {
		found[fold(name)] = byCode[code]
	}
	return found
}

// compileMatcher returns the catalogue's tags in its order, and a matcher that
// answers with positions in it.
func compileMatcher() ([]bcp47.Tag, bcp47.Matcher) {
	listed := make([]bcp47.Tag, len(catalogue))
	for i, language := range catalogue {
		listed[i] = bcp47.MustParse(language.Code)
	}
	return listed, bcp47.NewMatcher(listed)
}

// fold makes two spellings equal that differ in case, accents, apostrophes or
// white space only.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		// Accents are the marks that scripts share. A mark of one script, such as
		// a Tamil vowel sign, is a letter and must stay.
		case unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Inherited, r):
			return -1
		case strings.ContainsRune("'’‘ʻʼ", r):
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(strings.Join(strings.Fields(name), " ")))
}
