package answer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// Who asks what happens when something does is told what follows, in every language; who only
// sets a condition asks for what the rest of the question does.
func TestWhatFollows(t *testing.T) {
	for language, text := range map[string]string{
		"en": "what happens if I miss a class", "de": "was ist, wenn ich nicht komme", "fr": "qu'est-ce qui se passe si je ne viens pas", "es": "¿qué pasa si falto a una clase?",
		"it": "che cosa accade se arrivo in ritardo", "pt": "o que acontece se eu faltar", "nl": "wat gebeurt er als ik te laat kom", "pl": "co się stanie, jeśli się spóźnię",
		"tr": "geç kalırsam ne olur", "zh": "我迟到了会怎样", "ja": "遅れたらどうなりますか", "ar": "ماذا يحدث إذا تأخرت",
	} {
		require.Equal(t, answer.If, answer.KindOf(language, text), text)
	}
	require.Equal(t, answer.May, answer.KindOf("en", "if I am late, can I still come in"))
	require.Equal(t, answer.How, answer.KindOf("en", "what happens in the workshop"))
	require.True(t, answer.Conditional("en", "Cancel a day before, otherwise we charge $6."))
	require.False(t, answer.Conditional("en", "Classes have 18 places."))
}

// "How much" asks for a price only where nothing is named that there is so much of.
func TestHowMuchOfSomething(t *testing.T) {
	for text, kind := range map[string]answer.Kind{
		"how much is it": answer.Price, "How much money do I need?": answer.Price, "how much vacation do I have": answer.Anything, "how much time do I have": answer.Duration,
	} {
		require.Equal(t, kind, answer.KindOf("en", text), text)
	}
	require.Equal(t, answer.Price, answer.KindOf("de", "wie viel Pfand zahle ich"))
	require.Equal(t, answer.Count, answer.KindOf("de", "wie viele Bücher darf ich leihen"))
}

// A date tells when something is, and number words how many there are.
func TestEvidenceOfDatesAndNumberWords(t *testing.T) {
	dated := answer.EvidenceIn("es", "Comienzo de las clases: 14 de septiembre de 2026")
	require.InDelta(t, 1, dated.Fits(answer.When), 0)
	counted := answer.EvidenceIn("fr", "Elle emploie quatorze personnes.")
	require.InDelta(t, 1, counted.Fits(answer.Count), 0)
	article := answer.EvidenceIn("de", "Wir haben eine Sauna.")
	require.InDelta(t, 0, article.Fits(answer.Count), 0)
}

// Whoever gives an age is one of those whom texts call after it.
func TestGroupOf(t *testing.T) {
	require.True(t, answer.OfPeople(answer.GroupOf(5)))
	require.True(t, answer.OfPeople(answer.GroupOf(67)))
	require.NotEqual(t, answer.GroupOf(5), answer.GroupOf(67))
	require.Empty(t, answer.GroupOf(30))
}

// Of what somebody tells and asks at once, the clause that asks is found.
func TestAskingClause(t *testing.T) {
	for text, clause := range map[string]string{
		"I broke my leg, do I have to keep paying?": " do I have to keep paying?", "can I pay by card? I have no cash": "can I pay by card?",
		"I lost my umbrella": "I lost my umbrella", strings.Repeat("no, ", 9) + "can I pay by card": strings.Repeat("no, ", 9) + "can I pay by card", "how much is it": "how much is it",
	} {
		require.Equal(t, clause, answer.AskingClause("en", text))
	}
}
