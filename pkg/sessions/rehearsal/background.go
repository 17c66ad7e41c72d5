package rehearsal

import (
	"visavis.dev/pkg/eventing/job"
)

// Background is what workers do for rehearsals.
func (r *Rehearser) Background() job.Background {
	return job.Background{
		Works: map[job.Kind]job.Work{job.Simulate: r.Work()},
	}
}
