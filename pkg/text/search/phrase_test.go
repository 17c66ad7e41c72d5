package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/text/search"
)

func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		text, phrase string
		has          bool
	}{
		{"The museum opens at nine.", "opens at nine", true},
		{"The museum opens at nine.", "OPENS AT Nine!", true},
		{"The museum opens at nine.", "open at nine", false},
		{"It has nineteen rooms.", "nine", false},
		{"At nine. The gate is open.", "gate open", false},
		{"We serve crème brûlée.", "creme brulee", true},
		{"We serve creme brulee.", "CRÈME BRÛLÉE", true},
		{"Die Straße ist gesperrt.", "strasse", true},
		{"İstanbul'da", "istanbul", true},
		{"L’entrée est libre.", "l'entrée", true},
		{"L'entrée est libre.", "entree", true},
		{"Don’t walk", "don't", true},

		{"It costs 1,000 euros.", "1.000 Euros", true},
		{"It costs 1\u00a0000 euros.", "1000", true},
		{"It costs 1\u202f000 euros.", "1000", true},
		{"It costs 1'000 francs.", "1,000", true},
		{"It costs 1.234.567,89.", "1,234,567.89", true},
		{"It costs 1234567.89.", "1.234.567,89", true},
		{"It costs 12,50 €.", "12.50 €", true},
		{"It costs 12,50 €.", "12", false},
		{"It costs 12,50 €.", "2.50", false},
		{"Rooms 1 200 and 2", "1200", false},
		{"Call 030 12.", "030", true},
		{"Call 030 12.", "30", false},
		{"On 1.10.2026", "1.10.2026", true},
		{"On 1.10.", "1.1", false},
		{"Open 9-17", "9", true},
		{"At −5 °C", "-5", true},
		{"At -5 °C", "5", false},
		{"At 5 °C", "-5", false},
		{"Between\u00a0-5 and (-7)", "-5 and -7", true},
		{"A box of 10kg", "10 kg", true},
		{"A box of 10 kg", "10KG", true},
		{"100 percent", "100%", false},
		{"100 %", "100%", true},
		{"Room A-113", "A113", true},
		{"C and C++", "C++", true},
		{"C and D", "C++", false},
		{"costs １２ euro", "12", true},

		{"博物館は午前九時に開きます。", "午前九時", true},
		{"博物館は午前九時に開きます。", "午後九時", false},
		{"博物馆早上9点开门。", "9点", true},
		{"ﾐｭｰｼﾞｱﾑ", "ミュージアム", true},
		{"박물관은 아홉 시에 엽니다.", "아홉 시", true},
		{"พิพิธภัณฑ์เปิดเวลา 9 โมง", "เปิดเวลา 9", true},
		{"संग्रहालय नौ बजे खुलता है।", "नौ बजे", true},
		{"संग्रहालय नौ बजे खुलता है।", "न", false},

		{"anything", "", false},
		{"anything", " … !", false},
		{"", "anything", false},
	} {
		require.Equal(t, c.has, search.NewPhrase(c.text).Has(search.NewPhrase(c.phrase)), "%q in %q: %q %q",
			c.phrase, c.text, search.NewPhrase(c.phrase), search.NewPhrase(c.text))
	}
}

// Whatever is said, in whatever case, is found in it, with anything around it.
func TestAPhraseIsFoundWhereItStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aZé9,.-' \u00a0九ー한が゙ßİ€"))).Draw(t, "text")
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		phrase := search.NewPhrase(text)
		whole := search.NewPhrase(before + "\n" + strings.ToUpper(text) + "\n" + after)
		require.Equal(t, len(phrase) > 0, whole.Has(phrase), "%q in %q", phrase, whole)
	})
}

func FuzzPhrase(f *testing.F) {
	f.Add("1.000,50 € für Straße九時", "−5")
	f.Fuzz(func(t *testing.T, text, other string) {
		p := search.NewPhrase(text)
		require.Equal(t, len(p) > 0, p.Has(p))
		search.NewPhrase(other).Has(p)
		for _, word := range p {
			require.NotEmpty(t, word)
		}
	})
}
