package avatars

import "visavis.dev/pkg/base/problem"

// check refuses landmarks that are no face's.
func (l Landmarks) check() error {
	if point, reason := l.inner().Fault(); point != "" {
		return problem.Invalid("body.landmarks."+point, "%s", reason)
	}
	return nil
}
