package person

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for people.
func (e *Eraser) Background(d sweep.Deps) job.Background {
	return job.Background{
		Steps: map[job.Kind]job.Step{job.Erase: e.Step, job.UnitSwitch: TellSwitches},
		Tasks: []sweep.Task{
			{Name: "forget places that were taken away", Every: time.Hour, Batch: SweepBatch, Run: d.Dated(Sweep)},
			{Name: "enter what people are found by", Every: time.Minute, Batch: TermsBatch, Run: d.Undated(SweepTerms)},
		},
	}
}
