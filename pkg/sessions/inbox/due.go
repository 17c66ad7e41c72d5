package inbox

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// DueWithin is how far ahead something can be due at most.
const DueWithin = 366 * 24 * time.Hour

// soon is how long before it is due an item is due soon: half of the time where less than twice as long is left.
const soon = 30 * time.Minute

// dueAt has an item be due at a moment; nil for never.
func (i *Item) dueAt(due *time.Time, now time.Time) {
	i.SLADueAt, i.DueStepAt = due, nil
	if due == nil || !i.State.Active() {
		return
	}
	i.DueStepAt = new(due.Add(-min(soon, max(0, due.Sub(now)/2))))
}

// followState keeps when an item is due in step with its state, which was another before: what is over is not due, and what is
// opened again is due when it was, unless that has passed: then at no time.
func (i *Item) followState(before State, now time.Time) {
	switch {
	case i.SLADueAt == nil || before.Active() == i.State.Active():
	case !i.State.Active():
		i.DueStepAt = nil
	case !i.SLADueAt.After(now):
		i.dueAt(nil, now)
	case i.DueStepAt == nil:
		i.dueAt(i.SLADueAt, now)
	}
}

// reached ends the due time of an item whose visitor somebody of the team wrote to or joined, and says whether it had one.
func (i *Item) reached(now time.Time) bool {
	had := i.SLADueAt != nil
	i.dueAt(nil, now)
	return had
}

// IsOverdue says whether an item should have been dealt with by a moment.
func (i *Item) IsOverdue(now time.Time) bool {
	return i.SLADueAt != nil && i.State.Active() && !i.SLADueAt.After(now)
}

// Due applies the rules of due times to the items of a shard whose time has come. It rides inbox_item_by_due_step.
func Due(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return each(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.InboxItem) error {
		return comeDue(ctx, tx, which, now)
	}, `
		SELECT i.org_id, i.id FROM inbox_item i JOIN org_fence f ON f.org_id = i.org_id AND f.state IN ('open', 'capture')
		WHERE i.due_step_at <= $2 ORDER BY i.due_step_at LIMIT $1`, now)
}

// comeDue goes on to the next step of an item that is due, with the rules of this one, in one commit.
func comeDue(ctx context.Context, tx *tenant.Tx, which id.InboxItem, now time.Time) error {
	i, err := Lock(ctx, tx, which)
	if err != nil || i.DueStepAt == nil || i.DueStepAt.After(now) || i.SLADueAt == nil {
		return err // another worker was faster, or it is due at another time
	}
	due, e := *i.SLADueAt, DueSoon
	if i.DueStepAt = nil; due.After(now) {
		i.DueStepAt = &due
	} else {
		e = Overdue
	}
	before := i.State
	by, fields, err := i.applyRules(ctx, tx, e, due.UTC().Format(time.RFC3339Nano), now)
	if err != nil {
		return err
	}
	if len(fields) > 0 {
		i.UpdatedAt = now
		i.tellChanged(tx, before, fields, by.String())
		return i.save(ctx, tx, before, now)
	}
	tx.Touch("inbox_item", i.ID)
	_, err = tx.Exec(ctx, `UPDATE inbox_item SET due_step_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, i.ID, i.DueStepAt)
	return err
}

// mostOverdue is how far items that are overdue are counted.
const mostOverdue = 10_000

// CountOverdue is how many items are overdue, up to 10,000. It rides inbox_item_due.
func CountOverdue(ctx context.Context, t *tenant.Tenants, org id.Org, now time.Time) (n int64, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) error {
			n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
			return err
		}, `
			SELECT count(*) FROM (SELECT 1 FROM inbox_item
				WHERE org_id = $1 AND sla_due_at <= $2 AND state IN ('new', 'open', 'waiting', 'snoozed') LIMIT $3) AS due`, org, now, mostOverdue)
	})
	return n, err
}
