package slot

import (
	"context"
	"time"

	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// SweepBatch bounds the rows that a run deletes, and keptAfterwards is for how long a time that is
// over stays reserved: nobody reserves before it any more.
const (
	SweepBatch     = 1000
	keptAfterwards = 48 * time.Hour
)

// Tasks are the recurring tasks of times.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{{Name: "forget reserved times that are over", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)}}
}

// Sweep forgets reserved times that are over. It rides slot_reservation_by_end.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM slot_reservation WHERE (org_id, holder_id, reserved_by) IN (
			SELECT r.org_id, r.holder_id, r.reserved_by FROM slot_reservation r JOIN org_fence f ON f.org_id = r.org_id AND f.state = 'open'
			WHERE r.busy_to < $1 LIMIT 1000)`, now.Add(-keptAfterwards))
}
