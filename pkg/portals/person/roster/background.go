package roster

import (
	"visavis.dev/pkg/eventing/job"
)

// Background is what workers do for the files of people.
func (i *Importer) Background() job.Background {
	return job.Background{
		Works: map[job.Kind]job.Work{job.PeopleImport: i.Work()},
	}
}
