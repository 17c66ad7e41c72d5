package duo

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of duos.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget deleted duos", Every: time.Hour, Run: d.Dated(Sweep)},
	}
}
