package event

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of the event log.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "delete old events", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
	}
}
