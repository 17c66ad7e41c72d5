package conversation

import (
	"context"
	"strings"
	"testing"
	"time"

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

// Only what a document says is said to be its words: not whether it is so, which follows from it.
func TestOnlyWhatADocumentSaysIsItsWords(t *testing.T) {
	pool := pack{{Title: "Pool rules 2.1", Heading: "Children", Text: "Young people from 12 years may swim alone.", Language: "en", Score: 0.9}}
	text, _ := rehearsed(t, pool, "My son is 14, can he swim alone?")
	require.Equal(t, "Yes. Young people from 12 years may swim alone.", text)
	const want = `That is what "Pool rules 2.1" says: Young people from 12 years may swim alone.`
	text, _ = rehearsed(t, pool, "My son is 14, can he swim alone?", "Are you sure?", "Really?")
	require.Equal(t, want, text)
}

// What the settings say and what is said to who is in danger are no document's words, whatever of them is.
func TestNoDocumentSaysWhatTheEngineSays(t *testing.T) {
	for _, c := range []struct {
		first string
		has   pack
	}{
		{"Is this conversation stored?", pack{{Title: "Privacy.md", Text: "Conversations with our avatar are not stored.", Language: "en", Score: 0.9}}},
		{"There is a fire!", pack{{Title: "Safety.md", Heading: "Fire", Text: "In an emergency call 112.", Language: "en", Score: 0.9}}},
	} {
		before, _ := rehearsed(t, c.has, c.first)
		text, _ := rehearsed(t, c.has, c.first, "Are you sure?")
		require.Equal(t, before, text)
	}
}

func TestTitlesAreSaidWithoutTheEndingsOfFiles(t *testing.T) {
	for title, want := range map[string]string{"House rules.md": "House rules", "Prices.PDF": "Prices", "Hausordnung 2.1": "Hausordnung 2.1", "Node.js": "Node.js", ".md": ".md"} {
		require.Equal(t, want, spokenTitle(title))
	}
}

// A question of the avatar's own does not hide the answer before it.
func TestAPromptHidesNoAnswer(t *testing.T) {
	play(t, func(c *Config) {
		chat(c)
		c.Knowledge = pack{{Title: "House rules.md", Heading: "Dogs", Text: "Dogs are not allowed in the museum.", Language: "en", Score: 0.9}}
		c.Persona.Goals = []persona.Goal{goal("email", "What is your email?", "email")}
	}, func(s *stage) {
		s.ready()
		s.types("Are dogs allowed in the museum?")
		s.wait(5 * time.Second)
		s.types("Really?")
		s.wait(5 * time.Second)
		require.Contains(t, strings.Join(s.heard(), "\n"), "bot: That is what \"House rules\" says:\nbot: Dogs are not allowed in the museum.")
	})
}

// What confirms or denies asks nothing: what was repeated to the user is taken, or asked for again.
func TestWhatConfirmsDoesNotAskWhetherItIsSure(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           intent
	}{
		{"fr", "C'est exact.", sayYes}, {"es", "Es correcto.", sayYes}, {"es", "No es correcto.", sayNo}, {"it", "È corretto.", sayYes},
		{"it", "Non è corretto.", sayNo}, {"it", "Non è giusto.", sayNo}, {"de", "Ganz sicher.", sayYes}, {"nl", "Zeker weten.", sayYes},
		{"pl", "Na pewno.", sayYes}, {"fr", "Ah bon.", sayOkay}, {"fr", "Ah bon ?", askSure}, {"it", "È corretto?", askSure}, {"en", "are you sure", askSure}, {"de", "bist du dir sicher", askSure}, {"es", "Sí, es correcto.", sayYes}, {"it", "Sì, è corretto.", sayYes},
	} {
		require.Equal(t, c.want, heardIntent(c.language, c.text), c.text)
	}
}
