package numeral_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/numeral"
)

func TestInDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"en twelve euros":                "12 euros",
		"en two thousand and twenty-six": "2026",
		"en two three":                   "2 3",
		"de fünfundzwanzig Plätze":       "25 Plätze",
		"fr quatre-vingt-deux":           "82",
		"zh 二〇二六年":                       " 2026 年",
		"zh 二十五人":                        " 25 人",
		"ar خمسة وعشرون يورو":            "25 يورو",
		"ar ٢٥":                          "25",
		"xx twelve":                      "twelve",
	} {
		require.Equal(t, want, numeral.InDigits(text[:2], text[3:]), text)
	}
}

func TestIn(t *testing.T) {
	t.Parallel()
	require.Equal(t, []numeral.Found{{From: 3, To: 7, Value: 9}, {From: 11, To: 22, Value: 25}}, numeral.In("en-GB", "at nine to twenty five"))
}
