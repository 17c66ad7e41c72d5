package translation

import (
	"visavis.dev/pkg/eventing/job"
)

// Background is what workers do for translations.
func (t *Translator) Background() job.Background {
	return job.Background{
		Works: map[job.Kind]job.Work{job.Translate: t.Work()},
	}
}
