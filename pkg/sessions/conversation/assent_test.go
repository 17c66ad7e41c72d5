package conversation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// asks has the avatar say something, which is at its last so much later.
func (v *voice) asks(r *recorder, text string) (lasts time.Duration) {
	v.c.Say(Say{Text: text, Record: true, Interruptible: true})
	synctest.Wait()
	lasts = r.sound(len(r.said)-1, 0)
	v.heard()
	return lasts
}

// An assent to a question is its answer: begun after its end, or lasting until after it.
func TestAssentToAQuestionIsAnswered(t *testing.T) {
	for _, said := range []string{"Mhm.", "yes"} {
		for _, begins := range []time.Duration{300 * time.Millisecond, -900 * time.Millisecond} {
			hears(t, nil, func(v *voice, r *recorder) {
				lasts := v.asks(r, "You want a table on the terrace for tomorrow at noon. Is that right?")
				if len(r.said) > 1 {
					lasts = r.sound(1, lasts)
				}
				v.wait(lasts + begins + 100*time.Millisecond)
				v.utters(said, 1200*time.Millisecond)
				v.wait(3 * time.Second)
				got := v.heard()
				require.Contains(t, got, "user: "+said)
				require.Greater(t, len(got), 1, "%s at %v is answered: %v", said, begins, got)
			})
		}
	}
}

// How much of a turn is left goes by the time since the client told how far it was.
func TestAssentNearTheEndGoesByTheTimeSinceTheReport(t *testing.T) {
	hears(t, nil, func(v *voice, r *recorder) {
		lasts := v.asks(r, tale)
		v.wait(lasts - time.Second)
		v.send(ClientMessage{Type: Playback, Turn: r.said[0].Turn, PlayedMs: (lasts - time.Second).Milliseconds()})
		v.wait(600 * time.Millisecond)
		v.utters("yes", 700*time.Millisecond)
		v.wait(5 * time.Second)
		require.Greater(t, len(v.heard()), 1)
	})
}
