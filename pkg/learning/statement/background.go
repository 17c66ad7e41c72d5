package statement

import (
	"context"
	"time"

	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// mostForgotten is how much is let go at once.
const mostForgotten = 1000

// mostOfOne is how much of somebody who is erased is taken at once: each has a job of its own.
const mostOfOne = 100

// Tasks are the recurring tasks of what stores were told.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{{Name: "forget what deleted connections were told", Every: time.Hour, Batch: mostForgotten, Run: d.Undated(Sweep)}}
}

// Sweep lets go what the stores of deleted connections of a shard were told.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM record_statement WHERE (org_id, connection_id, id) IN (
			SELECT s.org_id, s.connection_id, s.id
			FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN record_statement s ON s.org_id = c.org_id AND s.connection_id = c.id
			WHERE c.deleted_at IS NOT NULL LIMIT $1)`, mostForgotten)
}
