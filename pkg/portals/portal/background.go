package portal

import (
	"time"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of portals' addresses.
func (a *Addresses) Tasks() []sweep.Task {
	return []sweep.Task{
		{Name: "look for the proofs of portals' hosts", Every: 10 * time.Minute, Run: a.Recheck},
	}
}
