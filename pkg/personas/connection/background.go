package connection

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of connections.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget deleted connections", Every: time.Hour, Run: d.Dated(Sweep)},
	}
}
