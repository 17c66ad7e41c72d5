package session

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Hostile texts cost no more than their length.
func TestRedactingIsNotQuadratic(t *testing.T) {
	rules := redactionOf([]string{"email", "phone", "card", "secret"})
	for name, part := range map[string]string{
		"letters": "a", "ats": "a@", "almost addresses": "a@b.", "addresses": "a@b.cc ", "digits": "1", "pairs": "1 ", "almost numbers": "12345 x", "words": "secre",
	} {
		t.Run(name, func(t *testing.T) {
			const short, times = 2_000, 40
			least := func(length int) time.Duration {
				text, least := strings.Repeat(part, length), time.Hour
				for range 4 {
					least = min(least, computing(t, func() { rules.blot(text) }))
				}
				return least
			}
			// It takes 40 times as long, or 1,600 times if it is quadratic.
			require.Less(t, least(short*times), 250*least(short))
		})
	}
}

// computing is how long this thread computes to do something, whatever else the machine does.
func computing(t *testing.T, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	so := func() time.Duration {
		var at unix.Timespec
		require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at))
		return time.Duration(at.Nano())
	}
	began := so()
	do()
	return so() - began
}
