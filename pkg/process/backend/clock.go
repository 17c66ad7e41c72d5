package backend

import (
	"time"

	"k8s.io/utils/clock"
)

// kept is a clock that tells the time as databases keep it, in microseconds: a moment inside a document
// of JSON would else be told finer than those in columns, and one that is answered otherwise than it is read.
type kept struct {
	clock.WithTickerAndDelayedExecution
}

// Now implements clock.PassiveClock. It keeps the monotonic reading, by which durations are measured.
func (c kept) Now() time.Time {
	t := c.WithTickerAndDelayedExecution.Now()
	return t.Add(-time.Duration(t.Nanosecond() % 1000))
}
