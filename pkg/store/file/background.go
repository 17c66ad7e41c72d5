package file

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of files.
func (s *Store) Tasks() []sweep.Task {
	return []sweep.Task{
		{Name: "delete unfinished files", Every: time.Minute, Run: s.Sweep, Batch: sweepBatch},
	}
}
