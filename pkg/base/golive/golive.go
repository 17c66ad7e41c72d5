// Package golive is the form of a check whether something can be shown to
// people: what forbids it, and what should be looked at (spec, go_live_refused).
package golive

import (
	"time"

	"visavis.dev/pkg/base/problem"
)

// Finding is something that a check found.
type Finding struct {
	// Field is what to change, as the API names it, such as "pages.welcome".
	Field string `json:"field" doc:"What to change, as a path: pages.welcome."`
	// Message says what to do, in plain English.
	Message string `json:"message" doc:"What to do, in plain English."`
}

// Report is the outcome of a check. Warnings do not forbid anything.
type Report struct {
	Problems  []Finding
	Warnings  []Finding
	CheckedAt time.Time
}

// Rule looks at one thing of a T and says what it finds. It is pure: what it needs
// to know is in the T.
type Rule[T any] func(subject T, r *Report)

// Check applies rules in their order.
func Check[T any](subject T, rules []Rule[T], now time.Time) Report {
	r := Report{Problems: []Finding{}, Warnings: []Finding{}, CheckedAt: now}
	for _, rule := range rules {
		rule(subject, &r)
	}
	return r
}

// Forbid notes what must be changed first.
func (r *Report) Forbid(field, message string) {
	r.Problems = append(r.Problems, Finding{field, message})
}

// Warn notes what should be looked at.
func (r *Report) Warn(field, message string) {
	r.Warnings = append(r.Warnings, Finding{field, message})
}

// Ready says whether nothing forbids it.
func (r *Report) Ready() bool { return len(r.Problems) == 0 }

// Add takes over another report's findings; their fields begin with prefix.
func (r *Report) Add(prefix string, other Report) {
	for _, f := range other.Problems {
		r.Forbid(prefix+f.Field, f.Message)
	}
	for _, f := range other.Warnings {
		r.Warn(prefix+f.Field, f.Message)
	}
}

// Refusal is the error go_live_refused, with what is to be changed.
func (r *Report) Refusal(message string) error {
	return problem.New(problem.GoLiveRefused, "%s", message).WithDetail("problems", r.Problems).WithDetail("warnings", r.Warnings)
}
