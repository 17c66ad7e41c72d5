package job

import (
	"context"
	"time"

	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Retention is how long a job that ended is kept, with the file that came of it.
const Retention = 30 * 24 * time.Hour

// Sweep deletes jobs that ended longer ago than Retention.
func Sweep(ctx context.Context, t *tenant.Tenants, files *file.Store, shard string, now time.Time) (int, error) {
	for {
		n, err := sweepFiles(ctx, t, files, shard, now.Add(-Retention))
		if err != nil {
			return 0, err
		}
		if n < SweepBatch {
			break
		}
	}
	return t.SweepRows(ctx, shard, `
		DELETE FROM job WHERE (org_id, id) IN (
			SELECT j.org_id, j.id FROM job j JOIN org_fence f ON f.org_id = j.org_id AND f.state = 'open'
			WHERE j.finished_at < $1 AND j.source_id IS NULL AND j.file_id IS NULL LIMIT 1000)`, now.Add(-Retention))
}
