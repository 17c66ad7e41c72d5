package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is typed is answered at once, whatever the ear is waiting for.
func TestTypedTextIsAnsweredWhileListening(t *testing.T) {
	hears(t, nil, func(v *voice, _ *recorder) {
		v.begins() // a noise that does not end
		v.wait(time.Second)
		v.types("When does the bakery open?")
		v.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		require.False(t, v.c.Snapshot().Hearing)
	})
	hears(t, nil, func(v *voice, _ *recorder) {
		v.begins()
		v.wait(time.Second)
		v.understood("Good morning my dear", false)
		v.ends() // and its words are never whole
		v.types("When does the bakery open?")
		got := v.heard()
		require.GreaterOrEqual(t, len(got), 3)
		require.Equal(t, []string{"user: Good morning my dear", "user: When does the bakery open?"}, got[:2])
	})
}
