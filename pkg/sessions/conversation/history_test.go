package conversation

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model"
)

// What a model is told of the avatar's last words, and how they are kept: who reads has
// heard what was sent, who listens what was played.
func TestWhatWasHeardOfAnAnswer(t *testing.T) {
	const whole = "We open at seven. On Sundays we are closed."
	for name, c := range map[string]struct {
		channel     Channel
		audio       []string
		played      time.Duration
		writing     bool // the model is not done when the visitor goes on
		heard       string
		interrupted bool
	}{
		"read in a video session":                {Video, nil, -1, false, whole, false},
		"read in a voice session":                {Voice, nil, -1, false, whole, false},
		"read in a chat":                         {Chat, nil, -1, false, whole, false},
		"read, and more was to come":             {Video, nil, -1, true, whole, true},
		"listened to":                            {Video, []string{"opus"}, -1, false, "We", true},
		"listened to, as the client reports":     {Video, []string{"opus"}, 900 * time.Millisecond, false, "We open at", true},
		"listened to by a client that only says": {Video, nil, 900 * time.Millisecond, false, "We open at", true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &scribe{stream: func(ctx context.Context, each func(string) error) error {
				err := writes("We open at seven [1]. ", "On Sundays we are closed [1]. ").stream(ctx, each)
				if c.writing && err == nil {
					<-ctx.Done()
					return ctx.Err()
				}
				return err
			}}
			play(t, func(config *Config) { config.Model, config.Session.Channel = m, c.channel }, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: c.audio})
				s.types("When does the bakery open?")
				s.wait(500 * time.Millisecond)
				if c.played >= 0 {
					s.send(ClientMessage{Type: Playback, Turn: s.lastTurn().ID, PlayedMs: c.played.Milliseconds()})
				}
				s.heard()
				s.types("What does delivery cost?")
				if heard := s.heard(); c.interrupted {
					require.Equal(t, "interrupted: "+c.heard, heard[0])
				} else {
					require.Equal(t, "user: What does delivery cost?", heard[0])
				}
				answer := s.turns()[1]
				require.Equal(t, []any{c.heard, c.interrupted}, []any{answer.Spoken, answer.Interrupted})
				require.Equal(t, model.Message{Role: "assistant", Content: c.heard}, m.asked[1].Messages[2])
			})
		})
	}
}
