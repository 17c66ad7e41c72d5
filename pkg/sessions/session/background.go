package session

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of sessions.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "end forsaken sessions", Every: time.Second, Batch: SweepBatch, Run: d.Dated(Sweep)},
		{Name: "forget session tokens", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(SweepTokens)},
		{Name: "delete words of old sessions", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(SweepWords)},
	}
}
