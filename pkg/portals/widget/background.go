package widget

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of widgets.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "forget deleted widgets", Every: time.Hour, Run: d.Dated(Sweep)},
		{Name: "forget visitors", Every: 10 * time.Minute, Run: d.Dated(SweepVisitors)},
	}
}
