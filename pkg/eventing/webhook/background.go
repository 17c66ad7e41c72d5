package webhook

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of webhooks.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "delete the logs of deleted webhooks", Every: time.Minute, Batch: SweepBatch, Run: d.Undated(Sweep)},
	}
}
