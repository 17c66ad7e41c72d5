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
		{"ru", "Почта info@bread.example, ул. Мира, 20 %", "Почта info собака bread точка example, улица Мира, 20 процентов"},
		{"hi", "info@bread.example पर लिखें", "info at bread dot example पर लिखें"},
		{"en", "On 2026-11-26, or 11/03/2026, or 26/11/2026.", "On November 26th, 2026, or November 3rd, 2026, or November 26th, 2026."},
		{"en", "Version 2026-13-40 of 99/99/2026", "Version 2026-13-40 of 99/99/2026"},
		{"en", "Open 9:00–17:30, 10-12 people, 3–5 days", "Open 9 o'clock to 17 30, 10-12 people, 3 to 5 days"},
		{"en", "Open 9:15-17:30.", "Open 9 15 to 17 30."},
		{"en", "Call +49 30 1234567 or (555) 123-4567, 1200000 people do.", "Call plus 4 9, 3 0, 1 2 3 4 5 6 7 or 5 5 5, 1 2 3, 4 5 6 7, 1200000 people do."},
		{"de", "Tel. 030 / 123 45-67, am 26.11.2026 und der 3. Mai bis zum 21. Juni", "Telefon 0 3 0, 1 2 3, 4 5, 6 7, am sechsundzwanzigsten November 2026 und der dritte Mai bis zum einundzwanzigsten Juni"},
		{"de", "Version 1.2.3, Punkt 12. Dann", "Version 1.2.3, Punkt 12. Dann"},
		{"fr", "Le 1 mai, le 01/12/2026, de 9h30–18h", "Le premier mai, le premier décembre 2026, de 9 heures 30 à 18 heures"},
		{"es", "El 26/11/2026", "El 26 de noviembre de 2026"},
		{"pt-BR", "R$ 12,50 às 9:00", "12 reais e 50 às 9 horas"},
		{"nl", "Op 26-11-2026 om 9:30 uur", "Op 26 november 2026 om 9 uur 30"},
		{"pl", "Bilet: 20 zł, 26.11.2026", "Bilet: 20 złotych, 26 listopada 2026"},
		{"sv", "100 kr och 100 kronor", "100 kronor och 100 kronor"},
		{"tr", "%20 indirim, 50 TL", "yüzde 20 indirim, 50 lira"},
		{"zh-Hans", "2026-11-26开放,门票12€,打折20%。", "二零二六年11月26日开放,门票12 欧元,打折百分之 20。"},
		{"zh-Hans", "银行的馆长", "yin2hang2的guan3zhang3"},
		{"zh-Hans", "2019年开业", "二零一九年开业"},
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
	parts := []string{"Grüße ", "**", "e.g. ", "12:30 ", "$5.20", "a@b.example ", "🎉", "世界", "word ", "50% ", "26.11.2026 ", "+49 30 123456 ", "9–12 ", "_x_ ", "- ", "\n", "[l](u) "}
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts"), "")
		language := rapid.SampledFrom([]string{"en", "de", "fr", "es", "it", "ko", "nl", "zh-Hans"}).Draw(t, "language")
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
