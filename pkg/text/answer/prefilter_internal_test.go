package answer

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// formed are sentences that have what the forms look for, in each way that they are written.
var formed = []string{
	"We are at 12 Harbor Street, 5 Old Mill Rd, 44b Queen’s Gardens or KING STREET 9.", "Am Markt 3, An der Alster 12, Zum Hof 4, Lindenallee 7, Große Straße 1, Königsplatz 2",
	"12 bis, rue de la Paix; 4 allée des Fleurs; 3, place l'Église; 7 ROUTE du Lac", "Calle Mayor, n.º 7, Via Roma 3, praça da Sé 9, ul. Długa 5, al. Jana 4, PLAC Nowy 1",
	"Atatürk Caddesi 5, Gül Sokağı 3, Lale Sk. 2, Deniz BULVARI 1, Can Mah. 4", "中山路12号 3丁目 番地5 شارع النيل 5", "Lange Gracht 4, Nieuwe kade 12 en Oude dijk 9",
	"5 min, 3 ½ hours, half an hour, een uur, zwei Tage, dos días, une heure, trois nuits, 2 gün, 1 yıl, 4 años, due settimane, 10 godzin", "3分 2小时 5泊 4 دقيقة", "a week; ten working days; 30-minute; AN HOUR; eine Stunde; tre giorni",
	"Dr. Anna Lee, Frau Müller, Herrn K., Sig. Rossi, Pani Nowak, 田中さん, 李先生, الدكتور علي, M. Dupont", "12 €, $5.50, 3,20 euros, 40 zł, 9:30, 10 am, 14 Uhr, 12.5., 1999, 555 123 4567, a@b.example 7",
	"1ſtunde 5 ſt 2 wee\u212as 7 \u212aıng Street", "noon and 5", "12.3.2020 at 9.30 for 4 people", "５ minutes", "",
}

// tuningSentences are the lines and sentences of the tuning sets.
func tuningSentences(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../hack/quality/sets/tuning/*/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			out = append(out, line)
			out = append(out, strings.SplitAfter(line, ". ")...)
		}
	}
	return out
}

// mixed are sentences made of pieces of others, in other cases.
func mixed(of []string, n int) []string {
	random := rand.New(rand.NewPCG(3, 4))
	var pieces []string
	for _, s := range of {
		pieces = append(pieces, strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == ';' })...)
	}
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range 1 + random.IntN(9) {
			piece := pieces[random.IntN(len(pieces))]
			switch random.IntN(8) {
			case 0:
				piece = strings.ToUpper(piece)
			case 1:
				piece = strings.ToTitle(piece)
			case 2:
				piece = strings.ToLower(piece)
			}
			b.WriteString(piece + []string{" ", " ", " ", " ", ", ", "-", "", "_", "\t"}[random.IntN(9)])
		}
		out[i] = b.String()
	}
	return out
}

func requireGuarded(t *testing.T, sentence string) {
	t.Helper()
	digit := strings.ContainsFunc(sentence, unicode.IsDigit)
	seen := featuresOf(sentence)
	if digit || strings.ContainsAny(sentence, "شC") {
		require.False(t, !seen.mayHaveStreet(sentence) && streetForm.MatchString(sentence), "street: %q", sentence)
	}
	require.False(t, !seen.mayHaveSpan(digit) && spanForm.MatchString(sentence), "span: %q", sentence)
	require.False(t, !seen.mayHaveTitle() && titleForm.MatchString(sentence), "title: %q", sentence)
	if !digit {
		return
	}
	rest := sentence
	for _, form := range []*regexp.Regexp{moneyForm, timeForm, reachForm, dateForm} {
		rest = form.ReplaceAllString(rest, " ")
	}
	got := counts(sentence, moneyForm.MatchString(sentence), timeForm.MatchString(sentence), reachForm.MatchString(sentence))
	require.Equal(t, strings.ContainsFunc(rest, unicode.IsDigit), got, "counted: %q", sentence)
}

// What a prefilter lets pass by has nothing that its form matches.
func TestPrefiltersLetNothingPassBy(t *testing.T) {
	tuning := tuningSentences(t)
	for _, s := range tuning {
		requireGuarded(t, s)
	}
	for _, s := range formed {
		requireGuarded(t, s)
	}
	for _, s := range mixed(formed, 60_000) {
		requireGuarded(t, s)
	}
	for _, s := range mixed(tuning, 20_000) {
		requireGuarded(t, s)
	}
}

// Most sentences are kept from the forms: else the prefilters are for nothing.
func TestPrefiltersKeepOrdinarySentencesOut(t *testing.T) {
	seen := featuresOf("The museum opens at 9 on Sundays, and children visit it for free.")
	require.False(t, seen.mayHaveStreet("The museum opens at 9 on Sundays, and children visit it for free."))
	require.False(t, seen.mayHaveSpan(true))
	require.False(t, seen.mayHaveTitle())
}

func FuzzPrefilters(f *testing.F) {
	for _, s := range formed {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sentence string) { requireGuarded(t, sentence) })
}
