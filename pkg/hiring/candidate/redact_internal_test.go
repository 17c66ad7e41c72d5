package candidate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/hiring/role"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	r := role.Role{Definition: role.Definition{Blind: true}}
	c := Candidate{Name: "Anna-Lena Müller", Email: new("a.mueller@example.com"), Phone: new("+49 30 123456"), Stage: AtScreening}
	redact := c.Redact(&r)
	for said, want := range map[string]string{
		"I am Anna-Lena Müller.":           "I am ▇▇▇.",
		"call me anna, or Mrs. MÜLLER":     "call me ▇▇▇, or Mrs. ▇▇▇",
		"Annabel and Annabels müllerische": "Annabel and Annabels müllerische",
		"Anna-Lena Müllers Arbeit":         "▇▇▇ Arbeit",
		"Annas and a müllerin":             "▇▇▇ and a ▇▇▇",
		"Anna-Lena Müllerstraße":           "▇▇▇-▇▇▇ Müllerstraße",
		"write to A.Mueller@example.com":   "write to ▇▇▇",
		"or ring +49 30 123456!":           "or ring ▇▇▇!",
		"nothing":                          "nothing",
		"Lena's rope":                      "▇▇▇'s rope",
		"我是Anna":                           "我是▇▇▇",
	} {
		require.Equal(t, want, redact(said))
	}
	require.Equal(t, "▇▇▇ takes an oar", (&Candidate{Name: "An", Stage: AtScreening}).Redact(&r)("An takes an oar"))
	require.Equal(t, "x", (&Candidate{Name: "x"}).Redact(&r)("x"), "too short to be told from a word")
	c.Decision = &Decision{Value: Wait}
	require.Equal(t, "I am ▇▇▇.", c.Redact(&r)("I am Anna."))
	c.Decision = &Decision{Value: Reject}
	require.Equal(t, "I am Anna.", c.Redact(&r)("I am Anna."))
	for name, said := range map[string]map[string]string{
		"Kim Lee": {"Kim Leeds is ▇": "▇▇▇ is ▇", "Kim's, Kims, Kimono": "▇▇▇'s, ▇▇▇, Kimono", "Lee7": "Lee7"},
		"王小明":     {"我叫小明。": "我叫▇▇▇。", "王小明说": "▇▇▇说", "小王": "小王"},
		"欧阳娜娜":    {"叫我娜娜": "叫我▇▇▇", "欧阳女士": "▇▇▇女士"},
		"김민수":     {"저는 민수입니다": "저는 ▇▇▇입니다"},
		"田中さくら":   {"さくらです": "▇▇▇です", "田中です": "▇▇▇です", "暗くらい": "暗くらい"},
		"王明":      {"明天": "明天"},
	} {
		redact := (&Candidate{Name: name, Stage: AtScreening}).Redact(&r)
		for text, want := range said {
			require.Equal(t, want, redact(text), name)
		}
	}
}
