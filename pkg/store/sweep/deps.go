package sweep

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/tenant"
)

// Deps is what the tasks of nouns work with.
type Deps struct {
	Tenants *tenant.Tenants
	Clock   clock.PassiveClock
}

// Dated makes a task's run of a function that goes by the time.
func (d Deps) Dated(run func(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error)) func(context.Context, string) (int, error) {
	return func(ctx context.Context, shard string) (int, error) {
		return run(ctx, d.Tenants, shard, d.Clock.Now().UTC())
	}
}

// Undated makes a task's run of a function that does not.
func (d Deps) Undated(run func(ctx context.Context, t *tenant.Tenants, shard string) (int, error)) func(context.Context, string) (int, error) {
	return func(ctx context.Context, shard string) (int, error) { return run(ctx, d.Tenants, shard) }
}
