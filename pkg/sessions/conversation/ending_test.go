package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// Once the last question is answered its ending is said, and what is asked for its own sake ends.
func TestTheLastQuestionIsFollowedByTheEnding(t *testing.T) {
	for name, of := range map[string]struct {
		ending string
		ends   bool
		said   []string
	}{
		"an interview":             {"Somebody calls you.", true, []string{"bot: Somebody calls you."}},
		"an interview without one": {"", true, []string{"bot: That was the last question."}},
		"a practice":               {"Well done.", false, []string{"bot: Well done."}},
		"a practice without one":   {"", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				c.Session.Ending, c.Session.Ends = of.ending, of.ends
				first, second := goal("bread", "Tell me about the bread.", session.AnswerTo+"bread"), goal("oven", "And the oven?", session.AnswerTo+"oven")
				second.Required = false
				c.Persona.Goals = []persona.Goal{first, second}
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.expect("notice: ai_notice")
				s.wait(time.Second)
				s.expect("bot: Tell me about the bread.", "final")
				s.types("It has rye")
				s.expect("user: It has rye", "bot: Thank you, I have noted that.", "bot: And the oven?", "final")
				s.types("It is of stone")
				s.expect(append(append([]string{"user: It is of stone", "bot: Thank you, I have noted that."}, of.said...), "final")...)
				if of.ends {
					require.Equal(t, []string{EndedByUser}, s.over())
					return
				}
				s.types("Thank you")
				require.NotEmpty(t, s.heard(), "it goes on")
			})
		})
	}
}
