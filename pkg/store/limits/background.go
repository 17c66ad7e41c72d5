package limits

import (
	"context"
	"time"

	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of the limits of addresses.
func Tasks(d *directory.Directory) []sweep.Task {
	return []sweep.Task{
		{Name: "forget addresses", Every: 10 * time.Minute, Directory: true, Run: func(ctx context.Context, _ string) (int, error) {
			return Sweep(ctx, d)
		}},
	}
}
