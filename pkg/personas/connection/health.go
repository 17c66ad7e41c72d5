package connection

import (
	"slices"
	"time"

	"visavis.dev/pkg/provider/upstream"
)

// Outcome is what came of a call.
type Outcome struct {
	// At is when the call began.
	At time.Time
	// Name says what was asked for, such as chat or speech; no words.
	Name string
	// Status is the HTTP status; zero when there was none.
	Status int
	Took   time.Duration
	// Code is why it failed; empty for a good one.
	Code upstream.Code
	// Received says that the service called, which shows that it reaches us, and
	// not that it answers.
	Received bool
}

// OutcomeOf is what came of a call that ended with an error or without one. A
// failure that is not the service's, as of a caller who went away, is none.
func OutcomeOf(name string, began, ended time.Time, err error) Outcome {
	return Outcome{At: began, Name: name, Status: upstream.StatusOf(err), Took: ended.Sub(began), Code: upstream.CodeOf(err)}
}

// failuresInARow is how many calls may fail before the connection does.
const failuresInARow = 3

// After is the connection as a call leaves it. A call that began before the
// connection was changed says nothing of it.
func (c Connection) After(o Outcome) Connection {
	if o.At.Before(c.SettledAt) {
		return c
	}
	h := &c.Health
	if o.Received {
		h.OKAt = later(h.OKAt, o.At)
		return c
	}
	if o.Code == "" {
		h.OKAt, h.ErrorCode, h.Failures = later(h.OKAt, o.At), "", 0
		if c.State == Failing || c.State == Unverified {
			c.State = Active
		}
		return c
	}
	h.ErrorAt, h.ErrorCode = later(h.ErrorAt, o.At), o.Code
	h.Failures++
	if c.works() && (h.Failures >= failuresInARow || o.Code == upstream.Refused) {
		c.State = Failing
	}
	return c
}

// works says whether a connection is taken to work, as far as anybody knows.
func (c Connection) works() bool { return c.State == Active || c.State == Unverified }

// Tried is the connection as a trial leaves it: what it shows is believed at
// once.
func (c Connection) Tried(trial Trial) Connection {
	for _, o := range trial.Outcomes {
		c = c.After(o)
	}
	if c.State == Disabled {
		return c
	}
	c.State = Active
	if !trial.OK() {
		c.State = Failing
	}
	return c
}

func later(a *time.Time, b time.Time) *time.Time {
	if a != nil && a.After(b) {
		return a
	}
	return &b
}

// p95 is the duration that 95 of a hundred do not exceed; negative for none.
func p95(ms []int64) int64 {
	if len(ms) == 0 {
		return -1
	}
	sorted := slices.Sorted(slices.Values(ms))
	return sorted[(len(sorted)*95+99)/100-1]
}
