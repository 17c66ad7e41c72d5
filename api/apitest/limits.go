package apitest

import (
	"testing"
	"time"
)

// Within runs what counts requests in one window: again, with another key,
// when a minute ended meanwhile.
func Within(t *testing.T, f func() []Answer) []Answer {
	t.Helper()
	for {
		began := time.Now().Unix() / 60
		answers := f()
		if time.Now().Unix()/60 == began {
			return answers
		}
	}
}
