package apikey

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/sweep"
)

// Tasks are the recurring tasks of keys.
func (c *Changes) Tasks(at clock.PassiveClock) []sweep.Task {
	return []sweep.Task{
		{Name: "apply changes of keys", Every: 2 * time.Second, Run: func(ctx context.Context, shard string) (int, error) {
			return c.Sweep(ctx, shard, at.Now())
		}},
	}
}
