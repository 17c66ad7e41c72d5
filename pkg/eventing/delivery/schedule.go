package delivery

import (
	"time"
)

// PauseAfter is how long every delivery of a webhook fails before it is paused
// (spec, Retries and pausing, 2).
const PauseAfter = 3 * 24 * time.Hour

// retries are the times of the retries after the first attempt (spec, Retries
// and pausing, 1).
var retries = []time.Duration{
	time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// Retries are the times of the retries after the first attempt.
func Retries() []time.Duration { return append([]time.Duration(nil), retries...) }

// next is when the attempt after one that failed is made: at the next time of
// the schedule, or later if the receiver asked for patience, but never past
// the schedule's end. ok is false when no attempt is left. A worker that comes
// late skips what has passed: the times count from the first attempt.
func next(first, failed time.Time, patience time.Duration) (at time.Time, ok bool) {
	end := first.Add(retries[len(retries)-1])
	for _, r := range retries {
		if at := first.Add(r); at.After(failed) {
			if asked := failed.Add(patience); asked.After(at) {
				at = asked
			}
			if at.After(end) {
				at = end
			}
			return at, true
		}
	}
	return time.Time{}, false
}
