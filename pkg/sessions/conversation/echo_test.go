package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

// An answer that repeats a word of its question is none of the avatar's.
func TestAnswerThatRepeatsTheQuestionIsHeard(t *testing.T) {
	for question, said := range map[string]string{"Do you come on Tuesday or Wednesday?": "Wednesday.", "Yes or no?": "No.", "Today or on Friday?": "On Friday."} {
		hears(t, nil, func(v *voice, r *recorder) {
			v.wait(v.asks(r, question) + 300*time.Millisecond)
			v.utters(said, 500*time.Millisecond)
			v.wait(3 * time.Second)
			got := v.heard()
			require.Contains(t, got, "user: "+said)
			require.Greater(t, len(got), 1, "%s is answered", said)
		})
	}
	hears(t, nil, func(v *voice, r *recorder) {
		v.wait(v.asks(r, "Today or on Friday?") + 300*time.Millisecond)
		v.send(ClientMessage{Type: UserTranscript, Text: "On Friday", Final: true})
		v.wait(3 * time.Second)
		require.Contains(t, v.heard(), "user: On Friday")
	})
}

// A stop is obeyed though the avatar said the same word a moment ago.
func TestStopThatTheAvatarJustSaidIsObeyed(t *testing.T) {
	hears(t, nil, func(v *voice, r *recorder) {
		v.asks(r, "Please wait here while the gardeners bring in the lemon trees from the garden.")
		v.wait(1800 * time.Millisecond)
		v.begins()
		v.wait(300 * time.Millisecond)
		v.understood("wait", false)
		require.True(t, v.interrupted())
	})
}

// A voice over a speech that could not be kept has nothing to be the echo of.
func TestNothingSaidHasNoEcho(t *testing.T) {
	now := time.Now()
	c := &Conversation{config: Config{Clock: clocktesting.NewFakeClock(now)}}
	require.False(t, c.echoes(&stretch{began: now}, "yes"))
	require.False(t, c.echoes(&stretch{began: now}, "where is the garden"))
}
