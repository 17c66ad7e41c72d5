package delivery

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for deliveries beside making them.
func Background(d sweep.Deps) job.Background {
	return job.Background{
		Steps: map[job.Kind]job.Step{job.WebhookRecover: Recover},
		Tasks: []sweep.Task{
			{Name: "delete old deliveries", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
		},
	}
}
