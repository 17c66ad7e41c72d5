package session

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for sessions.
func Background(d sweep.Deps) job.Background {
	return job.Background{
		Steps: map[job.Kind]job.Step{job.InboxForget: ForgetStep},
		Tasks: []sweep.Task{
			{Name: "end forsaken sessions", Every: 2 * time.Second, Batch: SweepBatch, Run: d.Dated(Sweep)},
			{Name: "forget session tokens", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(SweepTokens)},
			{Name: "delete words of old sessions", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(SweepWords)},
			{Name: "delete answers to the inbox that are old", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(SweepAnswers)},
		},
	}
}
