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
		{Name: "enter the terms of items that lost them", Every: time.Minute, Batch: SweepBatch, Run: d.Undated(EnterTerms)},
		{Name: "apply the rules of items that are due", Every: 10 * time.Second, Batch: SweepBatch, Run: d.Dated(Due)},
	}
}

// Wake opens the items of a shard whose time has come. It rides inbox_item_by_snooze.
func Wake(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return each(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.InboxItem) error { return wake(ctx, tx, which, now) }, `
		SELECT i.org_id, i.id FROM inbox_item i JOIN org_fence f ON f.org_id = i.org_id AND f.state IN ('open', 'capture')
		WHERE i.snoozed_until <= $2 ORDER BY i.snoozed_until LIMIT $1`, now)
}

// each does something with items of a shard, each in a transaction of its own, and answers of how many. The statement finds them, SweepBatch of
// them as its first argument says.
func each(ctx context.Context, t *tenant.Tenants, shard string, do func(context.Context, *tenant.Tx, id.InboxItem) error, sql string, args ...any) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org  id.Org
		Item id.InboxItem
	}
	rows, err := db.Query(ctx, sql, append([]any{SweepBatch}, args...)...)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	done := 0
	for _, d := range found {
		failed := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error { return do(ctx, tx, d.Item) }, tenant.Idempotent(true))
		switch {
		case ctx.Err() != nil:
			return done, ctx.Err()
		case failed == nil, errdefs.IsNotFound(failed, Noun):
			done++
		default:
			err = errors.Join(err, failed)
		}
	}
	return done, err
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

// EnterTerms makes the terms anew of items of a shard that a process of before changed, which knows fewer: while a deployment is changed both
// are there. It rides inbox_item_terms_due.
func EnterTerms(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	return each(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.InboxItem) error {
		i, err := Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		tx.Touch("inbox_item", i.ID)
		tag, err := tx.Exec(ctx, `UPDATE inbox_item SET terms_edition = edition WHERE org_id = $1 AND id = $2 AND terms_edition <> edition`, tx.Org, i.ID)
		if err != nil || tag.RowsAffected() == 0 {
			return err // another worker was faster
		}
		return i.enterTerms(ctx, tx)
	}, `
		SELECT i.org_id, i.id FROM inbox_item i JOIN org_fence f ON f.org_id = i.org_id AND f.state IN ('open', 'capture')
		WHERE i.terms_edition <> i.edition AND i.tags <> '{}'::TEXT[] ORDER BY i.org_id, i.id LIMIT $1`)
}
