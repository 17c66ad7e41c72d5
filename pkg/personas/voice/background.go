package voice

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for voices.
func (c *Cloner) Background() job.Background {
	d := sweep.Deps{Tenants: c.Tenants, Clock: c.Clock}
	return job.Background{
		Works: c.Works(),
		Tasks: []sweep.Task{
			{Name: "forget deleted voices", Every: time.Hour, Run: d.Dated(Sweep)},
		},
	}
}
