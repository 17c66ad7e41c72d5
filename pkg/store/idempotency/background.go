package idempotency

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of idempotency keys.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget idempotency keys", Every: 10 * time.Minute, Run: d.Dated(Sweep)},
	}
}
