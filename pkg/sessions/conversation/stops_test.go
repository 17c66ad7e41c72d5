package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What asks to stop is an utterance like any other where there is nothing to stop, and an
// apology or a question is answered wherever it is said.
func TestStopIsAnsweredWhereThereIsNothingToStop(t *testing.T) {
	for _, said := range []string{"Stop.", "Enough", "Excuse me?"} {
		hears(t, nil, func(v *voice, _ *recorder) {
			v.utters(said, 500*time.Millisecond)
			v.wait(3 * time.Second)
			require.Greater(t, len(v.heard()), 1, said)
		})
		play(t, nil, func(s *stage) {
			s.ready()
			s.says(said)
			s.wait(3 * time.Second)
			require.Greater(t, len(s.heard()), 1, said)
		})
	}
	hears(t, nil, func(v *voice, r *recorder) {
		v.tells(r)
		v.utters("Stop.", 500*time.Millisecond)
		v.wait(5 * time.Second)
		require.NotContains(t, v.heard(), "bot:")
		require.Len(t, v.turns(), 2, "it is obeyed, and not answered")
	})
	for language, said := range map[string]string{"en": "Excuse me", "de": "Entschuldigung", "fr": "Pardon", "es": "Perdón", "it": "Scusi", "ja": "すみません"} {
		require.True(t, saysStop(language, said), said)
		require.False(t, onlyStops(language, said), said)
	}
	require.False(t, onlyStops("es", "¿Basta?"))
	require.True(t, onlyStops("es", "Basta"))
}
