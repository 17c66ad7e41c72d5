package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
)

// gestured are the gestures that a client was sent, each of which is before the words of
// its turn.
func (s *stage) gestured() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range s.messages {
		g, ok := m.Data.(Gesture)
		if !ok {
			continue
		}
		names = append(names, g.Name)
		text, ok := s.messages[i+1].Data.(BotText)
		require.True(s.t, ok && text.Turn == g.Turn, "a gesture begins a turn")
	}
	return names
}

// The face shows what is said, by what is done with it, in every language.
func TestGestures(t *testing.T) {
	for asked, shows := range map[string]string{
		"Hello": GestureSmile, "Thank you": GestureSmile, "How are you?": GestureSmile, "Who invented the telephone?": GestureConcern,
		"What about it?": GestureThink, "When does the bakery open?": "", "There is a fire, help!": GestureConcern,
		"My colleague is unconscious!": GestureConcern, "Goodbye": GestureWave,
	} {
		t.Run(asked, func(t *testing.T) {
			play(t, nil, func(s *stage) {
				s.ready()
				s.says(asked)
				if shows == "" {
					require.Empty(t, s.gestured())
					return
				}
				require.Equal(t, []string{shows}, s.gestured())
			})
		})
	}
	play(t, func(c *Config) { c.Persona.Greeting = persona.Greeting{Mode: "fixed"} }, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady})
		require.Equal(t, []string{GestureSmile}, s.gestured(), "it opens with a smile")
	})
}

// Who only reads sees no face.
func TestNoGesturesInAChat(t *testing.T) {
	play(t, func(c *Config) { c.Session.Channel = Chat }, func(s *stage) {
		s.ready()
		s.types("Thank you")
		require.Empty(t, s.gestured())
	})
}
