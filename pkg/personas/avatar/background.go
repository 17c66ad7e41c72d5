package avatar

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of avatars.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget deleted avatars", Every: time.Hour, Run: d.Dated(Sweep)},
	}
}
