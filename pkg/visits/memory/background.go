package memory

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for what personas remember.
func (w *Writer) Background() job.Background {
	d := sweep.Deps{Tenants: w.Tenants, Clock: w.Clock}
	return job.Background{
		Works: map[job.Kind]job.Work{job.MemoryWrite: w.Work()},
		Tasks: []sweep.Task{
			{Name: "forget people", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
		},
	}
}
