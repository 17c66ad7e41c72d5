package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// Ages as people give them.
func TestAgesThatAreGiven(t *testing.T) {
	t.Parallel()

	for text, c := range map[string]struct {
		language string
		age      int
	}{
		"How much for my 7-year-old?":     {"en", 7},
		"how much is it for a 7 year old": {"en", 7},
		"my daughter is 4":                {"en", 4},
		"kid aged 4":                      {"en", 4},
		"my son just turned six":          {"en", 6},
		"two kids, 5 and 9":               {"en", 5},
		"my 3yo":                          {"en", 3},
		"I'm 67, any discount?":           {"en", 67},
		"child (8), price?":               {"en", 8},
		"meine Tochter ist 3":             {"de", 3},
		"was zahlt mein 7-jähriger Sohn":  {"de", 7},
		"Kind 4 Jahre":                    {"de", 4},
		"mein Sohn wird 6":                {"de", 6},
		"für einen Vierjährigen":          {"de", 4},
		"mon fils a 7 ans":                {"fr", 7},
		"enfant de 4 ans":                 {"fr", 4},
		"j'ai 70 ans":                     {"fr", 70},
		"mi hija tiene 5 años":            {"es", 5},
		"un niño de cuatro años":          {"es", 4},
		"tengo 66 años":                   {"es", 66},
		"bambino di 4 anni":               {"it", 4},
		"mia figlia ha 5 anni":            {"it", 5},
		"mio figlio ha quattro anni":      {"it", 4},
		"bambino di 1 anno":               {"it", 1},
		"o meu filho tem 6 anos":          {"pt", 6},
		"mijn zoon is 6":                  {"nl", 6},
		"kind van 4 jaar":                 {"nl", 4},
		"mijn dochter van 5":              {"nl", 5},
		"moja córka ma 5 lat":             {"pl", 5},
		"przegląd dla 8-latka":            {"pl", 8},
		"syn ma 3 latka":                  {"pl", 3},
		"dziecko 4 lata":                  {"pl", 4},
		"mam 70 lat":                      {"pl", 70},
		"oğlum 6 yaşında":                 {"tr", 6},
		"4 yaşındaki çocuk":               {"tr", 4},
		"我儿子6岁":                           {"zh", 6},
		"四岁的孩子":                           {"zh", 4},
		"4歳の子供":                           {"ja", 4},
		"ابني عمره 6 سنوات":               {"ar", 6},
		"طفل عمره 4 سنوات":                {"ar", 4},
		"two kids 3 nights":               {"en", -1},
	} {
		require.Equal(t, c.age, answer.AskedAge(c.language, text), text)
	}
}

// The bounds that texts set for ages, and an age that is within or beyond them.
func TestAgesThatAreBounded(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		language, text string
		age            int
		want           answer.Verdict
	}{
		{"de", "Freihanteln bis 30 kg, ein Seilzug, zwei Laufbänder.", 15, answer.Unclear},
		{"de", "Anmeldung für Kinder bis zum 15. Mai", 12, answer.Unclear},
	} {
		require.Equal(t, c.want, answer.Covers(c.language, c.text, c.age), "%s, %d", c.text, c.age)
	}
}

// A span of ages ends a sentence, or stands before a colon, as well as within one.
func TestSpansOfAgesAtTheEnd(t *testing.T) {
	t.Parallel()

	for language, spans := range map[string][]string{
		"en": {"Free for children from 4 to 11", "Children 4–11", "Children aged 4 to 11 years", "Children between 4 and 11"},
		"de": {"Kinder von 4 bis 11", "Kinder 4–11", "Kinder zwischen 4 und 11"},
		"fr": {"Enfants de 4 à 11 ans", "Enfants de 4 à 11"}, "es": {"Niños de 4 a 11", "Niños entre 4 y 11"},
		"it": {"Bambini da 4 a 11", "Bambini dai 4 agli 11"}, "pt": {"Crianças dos 4 aos 11", "Crianças de 4 a 11"},
		"nl": {"Kinderen van 4 tot 11", "Kinderen 4 t/m 11"}, "pl": {"Dzieci od 4 do 11", "Dzieci między 4 a 11"},
		"tr": {"Çocuklar 4-11", "4-11 yaş çocuklar"}, "zh": {"儿童4至11"}, "ja": {"子供4〜11"}, "ar": {"الأطفال من 4 إلى 11"},
	} {
		for _, span := range spans {
			for _, end := range []string{"", ".", ": 5 €", ", 5 €", ".\n"} {
				require.Equal(t, answer.Holds, answer.Covers(language, span+end, 7), span+end)
				require.Equal(t, answer.Fails, answer.Covers(language, span+end, 15), span+end)
				require.Equal(t, answer.Fails, answer.Covers(language, span+end, 2), span+end)
			}
		}
	}
	require.Equal(t, answer.Unclear, answer.Covers("de", "Täglich von 9 bis 11.30 Uhr", 10))
}

// The French word for years is an article in other languages.
func TestYearsThatAreAnArticle(t *testing.T) {
	t.Parallel()

	require.Equal(t, -1, answer.AskedAge("en", "a table for 6 an hour before closing"))
	require.Equal(t, "a table for 6 an hour before closing", answer.WithoutAge("en", "a table for 6 an hour before closing"))
	require.Equal(t, 1, answer.AskedAge("fr", "mon bébé a 1 an"))
	require.Equal(t, 1, answer.AskedAge("fr-CA", "mon enfant de 1 an"))
}
