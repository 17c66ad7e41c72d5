package job

import (
	"context"

	"visavis.dev/pkg/store/pershard"
)

// Measure notes once how long a shard's jobs have waited.
func (r *Runner) Measure(ctx context.Context, shard string) error {
	return r.measure(ctx, newBacklog(r.Metrics), shard)
}

// Listed is the list of shards by which figures are kept, after some are known.
func (r *Runner) Listed() pershard.Lister { return newBacklog(r.Metrics).listed(r.Shards) }

// Begin begins a step of a heavy kind, and says whether to look for another at once.
func (r *Runner) Begin(ctx context.Context, shard string, k Kind) (more bool, err error) {
	next, err := r.begin(ctx, shard, newQueue("test", heavyLine([]Kind{k}), 1, 1), func() {})
	return next.More, err
}
