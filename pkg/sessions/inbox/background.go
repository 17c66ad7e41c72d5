package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// SweepBatch bounds the rows that a run looks at.
const SweepBatch = 1000

// Tasks are the recurring tasks of the inbox.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "bring back snoozed items", Every: 10 * time.Second, Batch: SweepBatch, Run: d.Dated(Wake)},
		{Name: "apply the rules of items that are due", Every: 10 * time.Second, Batch: SweepBatch, Run: d.Dated(Due)},
	}
}

// Wake opens the items of a shard whose time has come. It rides inbox_item_by_snooze.
func Wake(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org  id.Org
		Item id.InboxItem
	}
	rows, err := db.Query(ctx, `
		SELECT i.org_id, i.id FROM inbox_item i JOIN org_fence f ON f.org_id = i.org_id AND f.state IN ('open', 'capture')
		WHERE i.snoozed_until <= $1 ORDER BY i.snoozed_until LIMIT $2`, now, SweepBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	woken := 0
	for _, d := range found {
		failed := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error { return wake(ctx, tx, d.Item, now) }, tenant.Idempotent(true))
		switch {
		case ctx.Err() != nil:
			return woken, ctx.Err()
		case failed == nil, errdefs.IsNotFound(failed, Noun):
			woken++
		default:
			err = errors.Join(err, failed)
		}
	}
	return woken, err
}

func wake(ctx context.Context, tx *tenant.Tx, which id.InboxItem, now time.Time) error {
	i, err := Lock(ctx, tx, which)
	if err != nil || i.SnoozedUntil == nil || i.SnoozedUntil.After(now) {
		return err // another worker was faster, or it was put off again
	}
	before := i.State
	i.State, i.SnoozedUntil = Open, nil
	return i.settle(ctx, tx, before, Updated, "", now, func() { i.tellChanged(tx, before, []string{"state", "snoozedUntil"}, platform) })
}
