package job

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// pollEvery is how often a job that is waited for is looked at.
const pollEvery = time.Second

// Await is Get, once the job has ended or the time is over, whichever comes first.
// Other processes advance it, so it is looked at again and again.
func Await(ctx context.Context, t *tenant.Tenants, c clock.Clock, org id.Org, which id.Job, longest time.Duration) (Job, error) {
	j, err := Get(ctx, t, org, which)
	for until := c.Now().Add(longest); err == nil && !j.State.Ended(); j, err = Get(ctx, t, org, which) {
		left := until.Sub(c.Now())
		if left <= 0 {
			break
		}
		select {
		case <-c.After(min(left, pollEvery)):
		case <-ctx.Done():
			return j, nil // the caller is gone, or we are going: what is known is a good answer
		}
	}
	return j, err
}
