package rehearsal

import (
	"testing"
	"time"
)

// ShortenTo makes a whole conversation take no longer than a while, until the test
// ends.
func ShortenTo(t testing.TB, d time.Duration) {
	was := longest
	longest = d
	t.Cleanup(func() { longest = was })
}
