package conversation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// rehearsed is what is answered to the last of some lines.
func rehearsed(t *testing.T, knowledge Knowledge, lines ...string) (text string, act Act) {
	t.Helper()
	r := Rehearse(context.Background(), Config{
		Session: Facts{Language: "en", Channel: Chat}, PersonaName: "Mia", Knowledge: knowledge, Clock: clocktesting.NewFakeClock(noon),
		Persona: persona.Definition{Knowledge: persona.Knowledge{Mode: "strict", Retrieval: "balanced"}, Settings: persona.Settings{Language: "en", Speed: 1},
			Greeting: persona.Greeting{Mode: persona.GreetNone}},
	}, lines)
	last := r.Turns[len(r.Turns)-1]
	return last.Text, r.Acts[last.Index]
}

func TestWhoAsksWhetherItIsSureIsToldWhatSaysSo(t *testing.T) {
	dogs := pack{{Title: "House rules.md", Heading: "Dogs", Text: "Dogs are not allowed in the museum.", Language: "en", Score: 0.9}}
	const want = `That is what "House rules" says: Dogs are not allowed in the museum.`
	for _, doubt := range []string{"Are you sure?", "Really?"} {
		text, act := rehearsed(t, dogs, "Are dogs allowed in the museum?", doubt)
		require.Equal(t, want, text)
		require.Equal(t, ActRepeat, act)
	}
	text, _ := rehearsed(t, dogs, "Are dogs allowed in the museum?", "Are you sure?", "Really?")
	require.Equal(t, want, text, "asked twice")
}

func TestWhoAsksWhetherItIsSureOfNothing(t *testing.T) {
	text, act := rehearsed(t, pack{}, "Who invented the telephone?", "Are you sure?")
	require.Equal(t, bookOf("en").dontKnow, text)
	require.Equal(t, ActRepeat, act)
	text, act = rehearsed(t, pack{}, "Are you sure?")
	require.Equal(t, bookOf("en").askAgain, text)
	require.Equal(t, ActClarify, act)
}

// What was only offered is not stood by.
func TestWhatWasOfferedIsNotSure(t *testing.T) {
	text, act := rehearsed(t, bakery, "since when is Anna there")
	require.Equal(t, ActUnknown, act)
	require.Contains(t, text, "Anna Petersen")
	text, act = rehearsed(t, bakery, "since when is Anna there", "Are you sure?")
	require.Equal(t, bySource("en", "unsure", titlesOf([]session.Source{{Title: bakery[2].Title}}, nil)), text)
	require.Equal(t, ActUnknown, act)
}
