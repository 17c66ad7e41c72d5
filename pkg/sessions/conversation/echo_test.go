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

// A word that is understood a little otherwise is the same; a short one and another are not.
func TestWordsThatSoundAlike(t *testing.T) {
	require.True(t, sounds("orangery", "orangary"))
	require.True(t, sounds("gardens", "garden"))
	require.True(t, sounds("lemon", "lemin"))
	require.True(t, sounds("tuesday", "duesday"), "a first letter that sounds alike")
	require.True(t, sounds("museum", "nuseum"))
	require.True(t, sounds("opening", "pening"), "a first letter that was lost")
	require.False(t, sounds("night", "light"), "another word")
	require.False(t, sounds("each", "reach"))
	require.False(t, sounds("opening", "bening"))
	require.False(t, sounds("lemon", "melons"))
	require.False(t, sounds("two", "to"))
	require.False(t, sounds("south", "north"))
}

// The last words come back just after they were said: nobody answers that fast.
func TestLastWordsComeBack(t *testing.T) {
	for _, echo := range []string{"Friday", "on Friday"} {
		hears(t, nil, func(v *voice, r *recorder) {
			v.wait(v.asks(r, "Today or on Friday?") + 170*time.Millisecond) // the voice began 100 ms ago
			v.utters(echo, 400*time.Millisecond)
			v.wait(3 * time.Second)
			v.expect()
		})
	}
}
