package escalation

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of escalations.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "expire escalations", Every: 10 * time.Second, Batch: SweepBatch, Run: d.Dated(Sweep)},
	}
}
