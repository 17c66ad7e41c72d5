package persona

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of personas.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget deleted personas", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
	}
}
