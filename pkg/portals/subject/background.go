package subject

import (
	"visavis.dev/pkg/eventing/job"
)

// Background is what workers do for subjects.
func (t *Teacher) Background() job.Background {
	return job.Background{
		Works: map[job.Kind]job.Work{job.SubjectSync: t.Work()},
	}
}
