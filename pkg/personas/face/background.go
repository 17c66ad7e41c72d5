package face

import (
	"visavis.dev/pkg/eventing/job"
)

// Background is what workers do for faces.
func (p *Preparer) Background() job.Background {
	return job.Background{
		Works: map[job.Kind]job.Work{job.AvatarPrepare: p.Work()},
	}
}
