package job

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// pollEvery is how often a job that is waited for is looked at.
const pollEvery = time.Second

// Await is Get, once the job has ended or the time is over, whichever comes first.
// Other processes advance it, so it is looked at again and again.
func Await(ctx context.Context, t *tenant.Tenants, c clock.Clock, org id.Org, which id.Job, longest time.Duration) (Job, error) {
	over := c.After(longest)
	for {
		j, err := Get(ctx, t, org, which)
		if err != nil || j.State.Ended() {
			return j, err
		}
		select {
		case <-over:
			return j, nil
		case <-c.After(pollEvery):
		case <-ctx.Done():
			return j, nil // the caller is gone, or we are going: what is known is a good answer
		}
	}
}
