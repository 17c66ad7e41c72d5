package knowledge

import (
	"context"
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for knowledge packs.
func (r *Reader) Background() job.Background {
	d := sweep.Deps{Tenants: r.Tenants, Clock: r.Clock}
	return job.Background{
		Works: map[job.Kind]job.Work{job.KnowledgeSync: r.Work()},
		Tasks: []sweep.Task{
			{Name: "read addresses again", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(Refreshed)},
			{Name: "delete documents of deleted packs", Every: time.Minute, Batch: SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return SweepDocuments(ctx, r.Tenants, r.Files, shard, r.Clock.Now().UTC())
			}},
			{Name: "delete replaced passages", Every: time.Minute, Batch: SweepBatch, Run: d.Undated(SweepPassages)},
			{Name: "forget deleted knowledge", Every: time.Hour, Run: d.Dated(Sweep)},
		},
	}
}
