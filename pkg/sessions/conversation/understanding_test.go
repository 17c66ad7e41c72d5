package conversation

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/text/answer"
)

// What is in the packs in another language is told in it, with a sentence in the
// visitor's own that says so.
func TestAnAnswerInAnotherLanguage(t *testing.T) {
	english := make(pack, len(bakery))
	for i, p := range bakery {
		p.Language = "en"
		english[i] = p
	}
	b := builtinBrain(anyWords(english))
	for language, question := range map[string]string{"de": "Was kostet die Lieferung?", "fr": "Combien coûte la livraison ?", "ja": "配達料金はいくらですか"} {
		text, gap := answered(t, b, Question{Text: question, Language: language})
		require.False(t, gap, text)
		require.Contains(t, text, "4.90 euros")
		require.Contains(t, text, answer.Say(language, "foreign"))
	}
}

func TestSeveralQuestionsAreEachAnswered(t *testing.T) {
	text, _ := answered(t, builtinBrain(bakery), Question{Text: "What does delivery cost and who founded the bakery?", Language: "en"})
	require.Contains(t, text, "4.90 euros")
	require.Contains(t, text, "Anna Petersen")
}

// Who asks for a person where none can join is told how one is reached.
func TestHowAPersonIsReached(t *testing.T) {
	house := pack{passage("Contact", "Call us at +49 40 555 0100 from nine to five.")}
	for name, c := range map[string]struct {
		knowledge Knowledge
		tools     []persona.Tool
		want      string
	}{
		"handed off":    {house, []persona.Tool{{Kind: handoff, Enabled: true}}, bookOf("en").handoff},
		"by the packs":  {anyWords(house), nil, "+49 40 555 0100"},
		"nothing known": {nil, nil, answer.Say("en", "person")},
	} {
		r, err := asked(t, "Can I speak to a human?", func(config *Config) { config.Knowledge, config.Persona.Tools = c.knowledge, c.tools })
		require.NoError(t, err, name)
		require.Contains(t, r.Text, c.want, name)
		require.Equal(t, ActHandoff, r.Act, name)
	}
}

// asker is knowledge that has nothing and remembers what was looked for.
type asker struct{ asked []string }

func (a *asker) Search(_ context.Context, q Query) ([]Passage, error) {
	a.asked = append(a.asked, q.Text)
	return nil, nil
}

// An address may stand under no word for it: who asks for one has streets looked for too,
// and nobody else has.
func TestAnAddressIsLookedForByStreets(t *testing.T) {
	for text, streets := range map[string]bool{"What is your address?": true, "where are you": true, "When do you open?": false} {
		var a asker
		answered(t, builtinBrain(&a), Question{Text: text, Language: "en"})
		require.Equal(t, streets, slices.Contains(a.asked, answer.Streets("en")), text)
	}
}
