package signin

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of sign-in.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget who came in to portals", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
	}
}
