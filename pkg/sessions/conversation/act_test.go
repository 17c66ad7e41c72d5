package conversation

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
)

// What an answer does is stated with it, in a conversation and for a single question alike.
func TestActs(t *testing.T) {
	config := func() Config {
		return counter(func(c *Config) {
			c.Persona.Goals, c.Persona.Greeting = nil, persona.Greeting{Mode: "none"}
			c.Persona.Tools = []persona.Tool{{Kind: handoff, Enabled: true}}
			c.Persona.Guardrails = append(c.Persona.Guardrails, persona.Guardrail{Key: "boss", Rule: `"complaint"`, Action: actHandoff})
		})
	}
	for asked, does := range map[string]Act{
		"When does the bakery open?":  ActAnswer,
		"Who invented the telephone?": ActUnknown,
		"What about it?":              ActClarify,
		"Could you repeat that?":      ActClarify,
		"Hello":                       ActGreeting,
		"Thank you":                   ActThanks,
		"How are you?":                ActWellness,
		"Goodbye":                     ActGoodbye,
		"Are you a robot?":            ActDisclosure,
		"Can I talk to a human?":      ActHandoff,
		"I have a complaint":          ActHandoff,
		"Can I file a lawsuit?":       ActRefusal,
	} {
		reply, err := Ask(t.Context(), config(), asked)
		require.NoError(t, err)
		require.Equal(t, does, reply.Act, asked)
		r := Rehearse(t.Context(), config(), []string{asked})
		require.Equal(t, []Act{does}, slices.Collect(maps.Values(r.Acts)), asked)
	}
	r := Rehearse(t.Context(), config(), []string{"When does the bakery open?", "Could you repeat that?"})
	require.Equal(t, map[int64]Act{1: ActAnswer, 3: ActRepeat}, r.Acts)
}

// An answer that states something is one, whatever else it does not know.
func TestActOfPieces(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []Piece
		does   Act
	}{
		"nothing":                {nil, ""},
		"sources alone":          {[]Piece{{Sources: []Source{{}}}}, ""},
		"an answer":              {[]Piece{{Text: "At seven."}, {Text: "On Sundays at nine."}}, ActAnswer},
		"an answer and a gap":    {[]Piece{{Text: "At seven."}, {Text: "I do not know.", Gap: true}}, ActAnswer},
		"a gap and an answer":    {[]Piece{{Text: "I do not know.", Gap: true}, {Text: "At seven."}}, ActAnswer},
		"a gap, stated":          {[]Piece{unknown("en")}, ActUnknown},
		"a gap known at the end": {[]Piece{{Text: "At seven."}, {Gap: true}}, ActAnswer},
	} {
		var does Act
		for _, p := range c.pieces {
			does = does.with(p)
		}
		require.Equal(t, c.does, does, name)
	}
}
