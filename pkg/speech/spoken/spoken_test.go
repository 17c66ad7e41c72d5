package spoken_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

func TestSaid(t *testing.T) {
	for _, test := range []struct{ language, text, said string }{
		{"en", "We open at 7:30.", "We open at 7 30."},
		{"en", "From 9:05 to 17:00.", "From 9 0 5 to 17 o'clock."},
		{"en", "It costs $12.50, or €1.", "It costs 12 dollars and 50, or 1 euro."},
		{"en", "That is 1,200 € a year.", "That is 1,200 euros a year."},
		{"en", "Bring **two** forms, e.g. a `passport`.", "Bring two forms, for example a passport."},
		{"en", "# Hours\n- [Our page](https://a.example/x)", "Hours\nOur page"},
		{"en", "Write to info@bread.example or see https://www.bread.example/menu?x=1.", "Write to info at bread dot example or see bread dot example."},
		{"en", "5 km at 20 °C, 30%", "5 kilometers at 20 degrees Celsius, 30 percent"},
		{"en", "5 kmh", "5 kmh"},
		{"en", "2 * 3 is six", "2 * 3 is six"},
		{"en", "snake_case_name", "snake_case_name"},
		{"en", "Great 🎉!", "Great  !"},
		{"de", "Um 8:05 Uhr, z. B. 3,50 €.", "Um 8 Uhr 5, zum Beispiel 3 Euro 50."},
		{"de", "ca. 80 km/h", "circa 80 Kilometer pro Stunde"},
		{"fr", "À 14:30, env. 20 €", "À 14 heures 30, environ 20 euros"},
		{"es", "Cuesta 3,50 €, p. ej.", "Cuesta 3 euros con 50, por ejemplo"},
		{"it", "Alle 10:15 da Sig. Rossi", "Alle 10 e 15 da signor Rossi"},
		{"it", "La Sig.ra Rossi", "La signora Rossi"},
		{"en", "No. It is not.", "No. It is not."},
		{"ru", "Пишите **нам**", "Пишите нам"},
		{"en", "***", ""},
		{"en", "", ""},
	} {
		text := spoken.Of(test.text, test.language, nil)
		require.Equal(t, test.said, text.Said)
	}
}

func TestPronunciationsOfTheVoice(t *testing.T) {
	text := "Nginx and nginxes at Visavis GmbH, by C++."
	got := spoken.Of(text, "en", []speaker.Pronunciation{
		{Text: "nginx", Say: "engine x"}, {Text: "Visavis", Say: "vee"}, {Text: "Visavis GmbH", Say: "veezahvee"}, {Text: "C++", Say: "see plus plus"},
	})
	require.Equal(t, "engine x and nginxes at veezahvee, by see plus plus.", got.Said)
	at := strings.Index(got.Said, "zahvee")
	from, to, ok := got.Source(at, 3)
	require.True(t, ok)
	require.Equal(t, "Visavis GmbH", text[from:to])
}

// Wherever it is asked, what was said is of a stretch of the text, and later words are of
// later stretches.
func TestSourceIsInOrder(t *testing.T) {
	parts := []string{"Grüße ", "**", "e.g. ", "12:30 ", "$5.20", "a@b.example ", "🎉", "世界", "word ", "50% ", "_x_ ", "- ", "\n", "[l](u) "}
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts"), "")
		language := rapid.SampledFrom([]string{"en", "de", "fr", "es", "it", "ko"}).Draw(t, "language")
		text := spoken.Of(source, language, nil)
		before := 0
		for position := range utf8.RuneCountInString(text.Said) {
			from, to, ok := text.Source(position, 1)
			require.True(t, ok)
			require.GreaterOrEqual(t, from, before)
			require.LessOrEqual(t, to, len(source))
			require.True(t, utf8.ValidString(source[from:to]))
			before = from
		}
	})
}
