// Package language is the catalogue of languages the product speaks: their
// codes and names, the accents English can be given, and the two speech engines
// with the languages each of them speaks. It is data and the rules for reading
// it; settings, sessions and HTTP answers that name a language live elsewhere.
// The spec calls it "Languages (answer of GET /languages)".
package language

import (
	"cmp"
	"slices"

	bcp47 "golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Language is one entry of the catalogue.
type Language struct {
	// Code is the BCP 47 tag in canonical form: "de", "pt-BR", "zh-Hans". A
	// region or script is there only where the catalogue tells two apart.
	Code string
	// Name is the English name.
	Name string
	// NativeName is the name its speakers write, in the case they write it in
	// mid-sentence: "français", "Deutsch".
	NativeName string
	// Duo tells whether a two-person avatar speaks the language. Exactly ten are
	// flagged, as "Languages" has it.
	Duo bool
	// DuoName is the English name to show where duos are set up: the language
	// without region or script ("Portuguese", "Chinese"), since a duo speaks one
	// form only and there is none to tell it from. Empty unless Duo, which
	// answers write as null.
	DuoName string
	// Beta marks the newest languages. Only the global engine speaks them, and
	// how they sound may still change.
	Beta bool
}

// catalogue is made once and never written again.
var catalogue = compile()

// Catalogue returns every language, ordered by English name. The slice is the
// caller's own.
func Catalogue() []Language {
	return slices.Clone(catalogue)
}

func compile() []Language {
	english := display.English.Tags()
	languages := make([]Language, 0, len(standings))
	for code, standing := range standings {
		tag := bcp47.MustParse(code)
		language := Language{
			Code:       code,
			Name:       english.Name(tag),
			NativeName: display.Self.Name(tag),
			Duo:        standing == bothWithDuo,
			Beta:       standing == globalBeta,
		}
		if corrected, ok := nativeNames[code]; ok {
			language.NativeName = corrected
		}
		if language.Duo {
			base, _ := tag.Base()
			language.DuoName = display.English.Languages().Name(base)
		}
		languages = append(languages, language)
	}
	slices.SortFunc(languages, func(a, b Language) int { return cmp.Compare(a.Name, b.Name) })
	return languages
}
