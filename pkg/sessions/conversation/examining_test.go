package conversation

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// thin finds an answer thin, once, that lacks a word.
type thin struct{ word, hint string }

func (e thin) Heard(_, said string, further int) (string, bool) {
	return e.hint, further < 1 && !strings.Contains(said, e.word)
}

// Who goes on elsewhere is held to the question that stood, with what was said to it.
func TestAQuestionStandsWhereTheConversationGoesOn(t *testing.T) {
	const bread, oven = session.AnswerTo + "bread", session.AnswerTo + "oven"
	asked, more := "Tell me about the bread.", "Can you say more about that?"
	for name, c := range map[string]struct {
		said   []string // by the avatar and the user in turn
		values map[string]string
		then   []string
		want   map[string]string
	}{
		"asked": {[]string{asked}, nil,
			[]string{"bot: Thank you, I have noted that.", "bot: And the oven?", "final"}, map[string]string{bread: "It has rye"}},
		"asked for more": {[]string{asked, "It is dark", more}, map[string]string{bread: "It is dark"},
			[]string{"bot: Thank you, I have noted that.", "bot: And the oven?", "final"}, map[string]string{bread: "It is dark\nIt has rye"}},
		"at the second question": {[]string{asked, "It has rye", "Thank you, I have noted that. And the oven?"}, map[string]string{bread: "It has rye"},
			[]string{"bot: Thank you, I have noted that.", "final"}, map[string]string{bread: "It has rye", oven: "It has rye"}},
		"taken, and nobody told": {[]string{asked, "It is dark", more, "It has rye"}, map[string]string{bread: "It is dark\nIt has rye"},
			[]string{"bot: Thank you, I have noted that.", "bot: And the oven?", "final"}, map[string]string{bread: "It is dark\nIt has rye"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(config *Config) {
				chat(config)
				config.Examiner = thin{"rye", ""}
				config.Persona.Goals = []persona.Goal{goal("bread", asked, bread), goal("oven", "And the oven?", oven)}
				for i, text := range c.said {
					ended := noon.Add(-time.Minute)
					turn := session.Turn{ID: id.NewTurn(), Index: int64(i), Speaker: session.Avatar, Text: text, Spoken: text, Language: "en", StartedAt: ended, EndedAt: &ended}
					if i%2 == 1 {
						turn.Speaker = session.User
					}
					config.Turns = append(config.Turns, turn)
				}
				config.Session.Collected = c.values
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				if len(c.said)%2 == 1 {
					s.expect("notice: ai_notice")
					s.types("It has rye")
					s.expect(append([]string{"user: It has rye"}, c.then...)...)
				} else {
					s.expect(append([]string{"notice: ai_notice"}, c.then...)...)
				}
				require.Equal(t, c.want, s.journal.values)
			})
		})
	}
}

// Whatever is said to a question of a subject is its answer, also what sounds like a question,
// a courtesy or a yes; only who wants to hear it again is told again.
func TestWhateverIsSaidAnswersAQuestion(t *testing.T) {
	for _, said := range []string{"When the alarm rings I leave by the stairs", "How can I help you, sir?", "I would ask them whether this is recorded", "I am a robot", "Nothing of this is stored", "Yes", "No", "Thank you", "Okay", "Hello there", "What can you do?"} {
		t.Run(said, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				first, second := goal("alarm", "The alarm rings.", session.AnswerTo+"alarm"), goal("oven", "And the oven?", session.AnswerTo+"oven")
				first.Required, second.Required = false, false
				c.Persona.Goals = []persona.Goal{first, second}
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.expect("notice: ai_notice")
				s.wait(time.Second)
				s.expect("bot: The alarm rings.", "final")
				s.types("Could you repeat that?")
				s.expect("user: Could you repeat that?", "bot: The alarm rings.", "final")
				s.types(said)
				s.expect("user: "+said, "bot: Thank you, I have noted that.", "bot: And the oven?", "final")
				require.Equal(t, map[string]string{session.AnswerTo + "alarm": said}, s.journal.values)
			})
		})
	}
}

// Who asks what is kept of the conversation, or who is speaking, is told, and asked again: that is no
// answer, and nothing of it is scored.
func TestWhoAsksWhatIsKeptOrWhoIsSpeakingAnswersNoQuestion(t *testing.T) {
	for _, said := range []string{"Is this conversation recorded?", "is this conversation stored", "Are you a robot?", "Wird dieses Gespräch aufgezeichnet?", "are you a human or a machine"} {
		t.Run(said, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				keeps(Kept{None: true})(c)
				first, second := goal("alarm", "The alarm rings.", session.AnswerTo+"alarm"), goal("oven", "And the oven?", session.AnswerTo+"oven")
				first.Required, second.Required = false, false
				c.Persona.Goals = []persona.Goal{first, second}
			}, func(s *stage) {
				s.ready()
				s.wait(time.Second)
				s.expect("bot: The alarm rings.", "final")
				s.types(said)
				s.wait(5 * time.Second)
				told := s.heard()
				require.Contains(t, strings.Join(told, " "), bookOf("en").disclosure)
				require.Equal(t, []string{"bot: The alarm rings.", "final"}, told[len(told)-2:])
				require.Empty(t, s.journal.values)
				s.types("I leave by the stairs")
				s.expect("user: I leave by the stairs", "bot: "+bookOf("en").noted, "bot: And the oven?", "final")
				require.Equal(t, map[string]string{session.AnswerTo + "alarm": "I leave by the stairs"}, s.journal.values)
			})
		})
	}
}

// A model that passes on a lead is offered nothing of the answers to questions, and cannot
// give any.
func TestNoModelAnswersForTheLearner(t *testing.T) {
	c := New(Config{Persona: persona.Definition{Goals: []persona.Goal{goal("alarm", "The alarm rings.", session.AnswerTo+"alarm"), goal("mail", "Your address?", "email")}}, Clock: clock.RealClock{}})
	require.NotContains(t, string(c.details()), session.AnswerTo)
	require.Contains(t, string(c.details()), "email")
	told := c.collect(&toolCall{offer: &offer{kind: persona.LeadTool}, arguments: map[string]any{session.AnswerTo + "alarm": "By the stairs."}})
	require.Contains(t, told, "Error")
	require.Empty(t, c.goals.values)

	c = New(Config{Persona: persona.Definition{Goals: []persona.Goal{goal("alarm", "The alarm rings.", session.AnswerTo+"alarm")}}, Clock: clock.RealClock{}})
	require.Contains(t, string(c.details()), `"phone"`, "somebody can still be asked how to reach them")
}

// Where an answer is thin, more is asked for, and what was said before counts.
func TestThinAnswersAreFollowedUp(t *testing.T) {
	for name, hint := range map[string]string{"with a hint": "What is it made of?", "without": ""} {
		t.Run(name, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				c.Examiner = thin{"rye", hint}
				c.Persona.Goals = []persona.Goal{
					goal("bread", "Tell me about the bread.", session.AnswerTo+"bread"), goal("oven", "And the oven?", session.AnswerTo+"oven"),
				}
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.expect("notice: ai_notice")
				s.wait(time.Second)
				s.expect("bot: Tell me about the bread.", "final")
				s.types("It is dark and heavy")
				if hint == "" {
					s.expect("user: It is dark and heavy", "bot: Can you say more about that?", "final")
				} else {
					s.expect("user: It is dark and heavy", "bot: Can you say more about that?", "bot: Think about this: "+hint, "final")
				}
				require.Equal(t, "It is dark and heavy", s.journal.values[session.AnswerTo+"bread"], "nothing said is lost")
				s.types("Nothing else")
				s.expect("user: Nothing else", "bot: Thank you, I have noted that.", "bot: And the oven?", "final")
				require.Equal(t, "It is dark and heavy\nNothing else", s.journal.values[session.AnswerTo+"bread"])
				s.types("It burns rye")
				s.expect("user: It burns rye", "bot: Thank you, I have noted that.", "final")
				require.Equal(t, "It burns rye", s.journal.values[session.AnswerTo+"oven"])
			})
		})
	}
}
