package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What admission costs is what people pay under a heading of prices, also where another sentence has
// the very word.
func TestPricesOfAdmission(t *testing.T) {
	for language, c := range map[string]struct {
		heading, price, last string
		asked                []string
	}{
		"es": {"Precios", "Los adultos pagan 12 euros y los niños 6.", "La última entrada es media hora antes del cierre.", []string{"¿Cuánto cuesta la entrada?", "cuánto cuesta entrar", "¿Cuánto pagan los niños?"}},
		"en": {"Prices", "Adults pay 12 euros and children 6.", "The last entry is half an hour before closing.", []string{"How much is entry?", "How much is it to get in?", "What do children pay?"}},
		"de": {"Preise", "Erwachsene zahlen 12 Euro und Kinder 6.", "Der letzte Eintritt ist eine halbe Stunde vor Schluss.", []string{"Was kostet der Eintritt?", "Was zahlen Kinder?"}},
		"it": {"Prezzi", "Gli adulti pagano 12 euro e i bambini 6.", "L'ultimo ingresso è mezz'ora prima della chiusura.", []string{"Quanto costa l'ingresso?"}},
	} {
		p := anyWords{{Title: "Museum", Text: c.last, Language: language}, {Title: "Museum", Heading: c.heading, Text: c.price, Language: language}}
		for _, question := range c.asked {
			text, gap := answered(t, builtinBrain(p), Question{Text: question, Language: language})
			require.False(t, gap, "%s: %s", question, text)
			require.Contains(t, text, "12", question)
		}
	}
}
