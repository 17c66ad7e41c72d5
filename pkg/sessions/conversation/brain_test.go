package conversation

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/text/answer"
)

func builtinBrain(k Knowledge) Brain {
	return extractive{retrieval{&Config{
		Knowledge: k, Clock: clocktesting.NewFakeClock(noon),
		Persona: persona.Definition{Knowledge: persona.Knowledge{Retrieval: "balanced"}},
	}}}
}

func answered(t testing.TB, b Brain, q Question) (text string, gap bool) {
	t.Helper()
	for piece, err := range b.Answer(context.Background(), q) {
		require.NoError(t, err)
		text, gap = join(text, piece.Text), gap || piece.Gap
	}
	return text, gap
}

var backerei = pack{
	passage("Öffnungszeiten", "Die Bäckerei öffnet montags bis samstags um 7 Uhr. Sie schließt um 18.30 Uhr. Am 3. Oktober bleibt sie geschlossen."),
	passage("Lieferung", "Wir liefern Brot innerhalb von Hamburg. Die Lieferung kostet 4,90 Euro."),
}

// handbook mentions what it is about everywhere.
var handbook = pack{
	passage("Handbook", "Command: ovenctl heat; effect: warms the oven. Command: ovenctl cool; effect: cools it down. Ovenctl runs an oven by hand."),
}

var (
	mianbao     = pack{passage("送货", "我们在本市送货。送货费用为三十元。周日休息。")}
	panya       = pack{passage("配達", "市内に配達します。配達料金は三百円です。日曜日は休みです。")}
	boulangerie = pack{passage("Livraison", "Nous livrons le pain à Lyon. La livraison coûte 4,90 euros.")}
)

func TestBuiltinAnswers(t *testing.T) {
	for _, test := range []struct {
		language, question, previous string
		pack                         pack
		want                         string
	}{
		{"en", "When does the bakery open?", "", bakery, "opens at 7"},
		{"en", "What does delivery cost?", "", bakery, "4.90 euros"},
		{"en", "Who founded the bakery?", "", bakery, "Anna Petersen"},
		{"en", "How long is the café open?", "", pack{passage("Café", "The café in the courtyard is open until seven.")}, "until seven"},
		{"en", "Where is your oven?", "", bakery, "Deichstraße 12"},
		{"en", "Do you have gluten-free cakes?", "", bakery, "almond cake"},
		{"en", "Can I pay by card?", "", bakery, "every usual card"},
		{"en", "And when does it close?", "When does the bakery open?", bakery, "closes at 18:30"},
		{"en", "What is ovenctl?", "", handbook, "Ovenctl runs an oven by hand."},
		{"de", "Wann öffnet die Bäckerei?", "", backerei, "um 7 Uhr"},
		{"de", "Was kostet die Lieferung?", "", backerei, "4,90 Euro"},
		{"de", "Ist im Oktober geschlossen?", "", backerei, "Am 3. Oktober"},
		{"en", "Who invented the telephone?", "", bakery, ""},
		{"en", "What is the capital of France?", "", bakery, ""},
		{"en", "Does the bakery sell bicycles and helicopters?", "", bakery, ""},
		{"de", "Wer erfand das Telefon?", "", backerei, ""},
		{"zh-Hans", "送货费用多少？", "", mianbao, "送货费用为三十元。"},
		{"ja", "配達料金はいくらですか。", "", panya, "配達料金は三百円です。"},
		{"fr", "Combien coûte la livraison ?", "", boulangerie, "4,90 euros"},
		{"zh-Hans", "谁发明了电话？", "", mianbao, ""},
		{"en", "Is there parking?", "", nil, ""},
	} {
		t.Run(test.question, func(t *testing.T) {
			text, gap := answered(t, builtinBrain(test.pack), Question{Text: test.question, Language: test.language, Previous: test.previous})
			if test.want == "" {
				require.True(t, gap, text)
				require.True(t, strings.HasPrefix(text, bookOf(test.language).dontKnow), text)
				return
			}
			require.False(t, gap)
			require.Contains(t, text, test.want)
			verbatim(t, test.pack, text)
		})
	}
}

func TestNearestIsOffered(t *testing.T) {
	for question, want := range map[string]string{
		"since when is Anna there":    "The bakery was founded by Anna Petersen in 1953.",
		"how long does delivery take": "We deliver bread within Hamburg. Delivery costs 4.90 euros.", // no length of time
	} {
		text, gap := answered(t, builtinBrain(bakery), Question{Text: question, Language: "en"})
		require.True(t, gap, question)
		require.Equal(t, answer.Say("en", "nearest")+" "+want, text, question)
	}
	text, gap := answered(t, builtinBrain(bakery), Question{Text: "who repairs bicycles", Language: "en"})
	require.True(t, gap)
	require.True(t, strings.HasPrefix(text, bookOf("en").dontKnow), "what is not asked about is not offered: %s", text)
}

// verbatim checks that every sentence of an answer stands in a pack.
func verbatim(t *testing.T, p pack, answer string) {
	t.Helper()
	for _, sentence := range sentencesOf(answer) {
		require.True(t, slices.ContainsFunc(p, func(p Passage) bool { return strings.Contains(p.Text, sentence) }), sentence)
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"It costs 4.90 euros. Really?! Yes.":                       {"It costs 4.90 euros.", "Really?!", "Yes."},
		"Dr. Petersen said \"no.\" Then she left":                  {"Dr. Petersen said \"no.\"", "Then she left"},
		"Am 3. Mai ist zu. Danach nicht.":                          {"Am 3. Mai ist zu.", "Danach nicht."},
		"Offen ist von 1. April bis 31. Oktober. August ist voll.": {"Offen ist von 1. April bis 31. Oktober.", "August ist voll."},
		"Seit 1974. Mai war noch kalt.":                            {"Seit 1974.", "Mai war noch kalt."},
		"Sie liegt in Saal 4. Danach links.":                       {"Sie liegt in Saal 4.", "Danach links."},
		"Closed from 3 to 21. We are back then.":                   {"Closed from 3 to 21.", "We are back then."},
		"Write to P.O. Box 12. It is free.":                        {"Write to P.O. Box 12.", "It is free."},
		"営業は七時からです。日曜は休みです。":                                       {"営業は七時からです。", "日曜は休みです。"},
		"See visavis.dev for more.\nAnd this":                      {"See visavis.dev for more.", "And this"},
		" ":                                                        nil,
	} {
		require.Equal(t, want, sentencesOf(text))
	}
}

func TestEveryLanguageHasItsPhrases(t *testing.T) {
	for _, code := range []string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "ja", "zh", "ar", "tr"} {
		book := bookOf(code)
		if code != "en" {
			require.NotSame(t, phrases["en"], book, code)
		}
		for _, said := range []string{
			book.disclosure, book.greeting, book.welcome, book.thanks, book.wellness, book.who, book.whoAs, book.dontKnow,
			book.idle, book.closing, book.handoff, book.askAgain, book.refuse, book.confirm, book.noted, book.moment,
			book.function, book.pronouns, book.askWhen, book.askNumber, book.askWhere,
		} {
			require.NotEmpty(t, said, code)
		}
		for means, heard := range map[intent]string{
			sayGreeting: book.hearGreeting, sayThanks: book.hearThanks, askWellness: book.hearWellness, askWho: book.hearWho,
			askRepeat: book.hearRepeat, sayGoodbye: book.hearGoodbye, askPerson: book.hearPerson, sayYes: book.hearYes, sayNo: book.hearNo,
		} {
			first, _, _ := strings.Cut(heard, "|")
			require.Equal(t, means, intentOf(code, first+"!"), "%s: %s", code, first)
		}
	}
	require.Equal(t, question, intentOf("en", "Hello, what does the delivery to Berlin cost?"))
}

func TestEstimate(t *testing.T) {
	require.InDelta(t, 1.0, Estimate("fourteen chars").Seconds(), 0.2)
	require.InDelta(t, 1.0, Estimate("五個の文字").Seconds(), 0.5)
}

func BenchmarkBuiltinAnswer(b *testing.B) {
	passages := make(pack, 0, 16)
	for range 4 {
		passages = append(passages, bakery...)
	}
	q := Question{Text: "When does the bakery open on Saturdays?", Language: "en"}
	for i := range passages {
		passages[i].Score = 0.8
	}
	for b.Loop() {
		retrieval{&Config{}}.extracted(q, passages)
	}
}
