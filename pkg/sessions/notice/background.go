package notice

import (
	"context"
	"time"

	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// mostForgotten is how much is let go at once.
const mostForgotten = 1000

// Tasks are the recurring tasks of notices.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{{Name: "forget what deleted chats and helpdesks were told", Every: time.Hour, Batch: mostForgotten, Run: d.Undated(Sweep)}}
}

// Sweep lets go what the deleted connections of a shard were told.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM inbox_notice WHERE (org_id, connection_id, item_id) IN (
			SELECT n.org_id, n.connection_id, n.item_id
			FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN inbox_notice n ON n.org_id = c.org_id AND n.connection_id = c.id
			WHERE c.deleted_at IS NOT NULL LIMIT $1)`, mostForgotten)
}
