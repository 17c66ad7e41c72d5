package resourcelink

import (
	"context"
	"time"

	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// mostForgotten is how many links go at once.
const mostForgotten = 1000

// Tasks are the recurring tasks of links.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{{Name: "forget links of deleted connections", Every: time.Hour, Batch: mostForgotten, Run: d.Undated(Sweep)}}
}

// Sweep forgets links of a shard whose connections are deleted.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM resource_link WHERE (org_id, person_id, subject_id, id) IN (
			SELECT l.org_id, l.person_id, l.subject_id, l.id
			FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN resource_link l ON l.org_id = c.org_id AND l.connection_id = c.id
			WHERE c.deleted_at IS NOT NULL LIMIT $1)`, mostForgotten)
}
