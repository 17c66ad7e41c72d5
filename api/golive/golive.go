// Package golive is how answers show whether something can be shown to people
// (spec, go_live_refused).
package golive

import (
	"time"

	"visavis.dev/pkg/base/golive"
)

// GoLive is whether something can be shown to people.
type GoLive struct {
	Ready     bool             `json:"ready" doc:"Whether nothing stands in the way."`
	Problems  []golive.Finding `json:"problems" doc:"What to change first."`
	Warnings  []golive.Finding `json:"warnings" doc:"What should be looked at; it forbids nothing."`
	CheckedAt time.Time        `json:"checkedAt" doc:"When it was looked at, in UTC."`
}

// Show makes the answer's form of a report.
func Show(r golive.Report) GoLive {
	return GoLive{Ready: r.Ready(), Problems: r.Problems, Warnings: r.Warnings, CheckedAt: r.CheckedAt}
}

// PublishRefusal is why something was not published.
type PublishRefusal struct {
	Problems []golive.Finding `json:"problems" doc:"What to change first."`
}
