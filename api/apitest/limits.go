package apitest

import (
	"testing"
	"time"
)

// room is what a minute has left at least when Within begins: most that it calls is done
// within it.
const room = 10 * time.Second

// Within calls f in one minute of the clock, since that is what limits count by: when the
// minute ended meanwhile, f is called again in the next whole one, of which nothing is used
// up yet.
func Within(t *testing.T, f func() []Answer) []Answer {
	t.Helper()
	if time.Until(nextMinute()) < room {
		waitFor(nextMinute())
	}
	for {
		ends := nextMinute()
		answers := f()
		if time.Now().Before(ends) {
			return answers
		}
		waitFor(nextMinute())
	}
}

// soon is what an hour has left at least when a test begins.
const soon = 15 * time.Second

// awaitHour waits for the next hour where this one is about to end: mails are counted by the hour,
// and tomorrow is another day.
func awaitHour() {
	if next := time.Now().Truncate(time.Hour).Add(time.Hour); time.Until(next) < soon {
		waitFor(next)
	}
}

func waitFor(at time.Time) { <-time.After(time.Until(at)) }

func nextMinute() time.Time { return time.Now().Truncate(time.Minute).Add(time.Minute) }
