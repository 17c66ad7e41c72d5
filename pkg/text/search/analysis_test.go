package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// texts are the terms of a text that are no stop words, with spaces between.
func texts(language, text string) string {
	var out []string
	for _, t := range Terms(language, text) {
		if !t.Stop {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, " ")
}

func TestTerms(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ language, text, want string }{
		{"en", "The runners were RUNNING", "runner run"},
		{"en-GB", "Tom’s connections don't fail", "tom connect fail"},
		{"de", "Die Häuser der Straße", "haus strass"},
		{"de", "Haeuser, Muenchen, München, neue Quelle", "haus munch munch neu quell"},
		{"fr", "L'école, qu’une journée d'hiver", "ecol journ hiv"},
		{"es", "Las estaciones, estacion y estación", "estacion estacion estacion"},
		{"it", "dell'acqua, l’acqua, libri", "acqua acqua libr"},
		{"pt", "informação informacoes", "inform inform"},
		{"nl", "De fietsen", "fiets"},
		{"sv", "flickorna springer", "flick spring"},
		{"da", "bøgerne", "bog"},
		{"nb", "bøkene", "bok"},
		{"fi", "taloissa", "talo"},
		{"ru", "Книги ёлки", "книг елк"},
		{"ro", "cărților", "cart"},
		{"hu", "házakban", "haz"},
		{"tr", "KİTAPLARI ILIK", "kitap ilik"},
		{"", "Résumé ＡＢＣ ﬁn", "resume abc fin"},
		{"xx", "Łódź Ørsted", "lodz orsted"},
		{"en", "Room A-113", "room a113 113"},
		{"en", "room a113", "room a113 113"},
		{"en", "v2.1", "v2.1 2.1"},
		{"en", "call +49 now", "call +49 49"},
		{"en", "C++ and C# or R&D", "c++ c c# c r&d r d"},
		{"en", "1,000 or 1000 or 3.5", "1000 1000 3.5"},
		{"de", "1.000 und 3,5", "1000 3.5"},
		{"en", "mail jane.doe@example.com", "mail jane.doe@example.com jane.doe jane doe example.com exampl com"},
		{"en", "e-mail U.S.A. well-known", "email e mail usa well known"},
		{"ja", "東京タワー", "東京 京タ タワ ワー"},
		{"zh", "北京大学", "北京 京大 大学"},
		{"zh", "水", "水"},
		{"ko", "한국어를", "한국어를 한국 국어 어를"},
		{"th", "ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
		{"hi", "हिन्दी", "हिन्दी"},
	} {
		require.Equal(t, c.want, texts(c.language, c.text), "%s: %s", c.language, c.text)
	}
}

func TestTermsSayWhereTheyStand(t *testing.T) {
	t.Parallel()

	text := "Wo ist l'été? In A-113, 東京都."
	for _, term := range Terms("fr", text) {
		require.NotEmpty(t, text[term.From:term.To])
	}
	terms := Terms("fr", text)
	require.Equal(t, "été", text[terms[2].From:terms[2].To])
}

func TestStopWordsStay(t *testing.T) {
	t.Parallel()

	for _, term := range Terms("en", "The Who") {
		require.True(t, term.Stop)
	}
	require.Len(t, essential("en", Terms("en", "The Who")), 2)
	require.Len(t, essential("en", Terms("en", "Who was Newton?")), 1)
	require.Empty(t, essential("en", nil))
}

func TestHighlightsCountCodePoints(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		language, query, text string
		want                  []string
	}{
		{"en", "running shoes", "Ünïcödé: good running shoes, a shoe for runs", []string{"running shoes", "shoe", "runs"}},
		{"en", "Where is the shoe?", "The shoe is where it is", []string{"shoe"}},
		{"en", "The Who", "Who are the Who", []string{"Who", "the Who"}},
		{"ja", "東京タワー", "🗼は東京タワーです", []string{"東京タワー"}},
		{"en", "a113", "room A-113.", []string{"A-113"}},
		{"fr", "été", "L’été dernier", []string{"été"}},
		{"en", "nothing", "of the sort", nil},
		{"en", "", "text", nil},
	} {
		var got []string
		runes := []rune(c.text)
		for _, r := range Highlights(c.language, c.query, c.text) {
			got = append(got, string(runes[r.From:r.To]))
		}
		require.Equal(t, c.want, got, c.text)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"How much does the ticket cost?":                   "en",
		"Wie lange ist die Garantie?":                      "de",
		"Quelle est la capitale de la France ?":            "fr",
		"¿Dónde está la estación?":                         "es",
		"Dove si trova il museo della città?":              "it",
		"Onde fica a estação e quando não está aberta?":    "pt",
		"Hoe laat gaat het museum open en wat kost het?":   "nl",
		"Var ligger stationen och när öppnar den?":         "sv",
		"Missä rautatieasema on ja mitä se maksaa?":        "fi",
		"Сколько стоит билет в музей?":                     "ru",
		"Скільки коштує квиток і де він є?":                "uk",
		"Hol van az állomás és mennyibe kerül?":            "hu",
		"Bu müze için bilet ne kadar ve nerede?":           "tr",
		"Unde este gara și cât costă biletul pentru oraș?": "ro",
		"Gdzie jest dworzec i ile kosztuje bilet?":         "pl",
		"駅はどこですか":                                          "ja",
		"车站在哪里":                                            "zh",
		"역은 어디에 있습니까":                                      "ko",
		"สถานีอยู่ที่ไหน":                                  "th",
		"أين المحطة":                                       "ar",
		"Πού είναι ο σταθμός":                              "el",
		"Berlin":                                           "",
		"":                                                 "",
		"12345 !!":                                         "",
	} {
		require.Equal(t, want, Detect(text), "%.40s", text)
	}
}

func FuzzAnalysis(f *testing.F) {
	for _, text := range []string{"A-113 v2.1 +49 a@b.c", "l’été ﬁn İı", "東京タワーﾊﾞ", "한국어", "1. a\n2. b", "\xff\xfe-a", "K.", "á̂", "ภาษาไทย"} {
		f.Add("de", text)
		f.Add("tr", text)
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		bounds := func(from, to int) {
			require.True(t, 0 <= from && from < to && to <= len(text))
			require.True(t, !utf8.ValidString(text) || utf8.ValidString(text[from:to]), "inside a rune")
		}
		for _, term := range Terms(language, text) {
			bounds(term.From, term.To)
			require.LessOrEqual(t, len(term.Text), longest)
		}
		end := -1
		for _, r := range Highlights(language, text, text) {
			require.True(t, end < r.From && r.From < r.To && r.To <= utf8.RuneCountInString(text))
			end = r.To
		}
		Detect(text)
	})
}
