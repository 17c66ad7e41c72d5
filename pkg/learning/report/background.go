package report

import (
	"visavis.dev/pkg/eventing/job"
)

// Background is what workers do for reports.
func (b *Builder) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.ReportBuild: {Prepare: b.prepare, GiveUp: giveUp}}}
}
