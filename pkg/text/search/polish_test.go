package search

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The forms of a Polish word come together, with accents or without, and other words stay apart.
func TestPolishForms(t *testing.T) {
	t.Parallel()

	for _, forms := range [][]string{
		{"implant", "implanty", "implantów", "implantami", "implantu"}, {"gwarancja", "gwarancji", "gwarancję", "gwarancja"},
		{"plomba", "plomby", "plombę", "plomb"}, {"wybielanie", "wybielaniu", "wybielania", "wybielamy"}, {"przegląd", "przeglądu", "przeglądy"},
		{"bezpłatny", "bezpłatna", "bezpłatne", "bezpłatnego"}, {"korona", "koronę", "korony", "korone"},
	} {
		want := Terms("pl", forms[0])[0].Text
		for _, form := range forms {
			require.Equal(t, want, Terms("pl", form)[0].Text, form)
		}
	}
	require.NotEqual(t, Terms("pl", "korona")[0].Text, Terms("pl", "korek")[0].Text)
	require.Equal(t, "noc", polish("noc"))
	require.Empty(t, polish(""))
}
