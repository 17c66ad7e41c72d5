package setup

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for plans: they work them out, and build portals of them.
func (b *Builder) Background() job.Background {
	planner := &Planner{Sources: b.Sources, Scribe: b.Scribe, Gallery: b.Gallery, Terms: b.Terms}
	d := sweep.Deps{Tenants: b.Sources.Tenants, Clock: b.Scribe.Clock}
	return job.Background{
		Works: map[job.Kind]job.Work{job.PortalPlan: planner.Work(), job.PortalFill: b.Work()},
		Tasks: []sweep.Task{
			{Name: "forget plans for portals", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
		},
	}
}
