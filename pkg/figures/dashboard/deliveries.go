package dashboard

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

const (
	// settles is how long most deliveries take to come to an end at most. They are looked at
	// after it, and those that have not are looked at again.
	settles = 2 * time.Minute
	// unsettledAtOnce bounds those that are looked at again in a step.
	unsettledAtOnce = 500
)

// CountDeliveries counts what became of the deliveries of a shard's organizations.
func CountDeliveries(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	before := id.FirstEvent(now.Add(-settles))
	return each(ctx, t, shard, selectUndelivered, []any{uuid.UUID(before)}, func(ctx context.Context, org id.Org) (n int, err error) {
		for range stepsAtOnce {
			counted, err := AdvanceDeliveries(ctx, t, org, now)
			n += counted
			if err != nil || counted < stepEvents {
				return n, err
			}
		}
		return n, nil
	})
}

// selectUndelivered finds organizations with events whose deliveries were not looked at, or with
// deliveries that are to be looked at again. It rides org_fence_pkey, dashboard_cursor_pkey,
// event_pkey and dashboard_fact_pkey.
const selectUndelivered = `
	SELECT f.org_id FROM org_fence f
	LEFT JOIN dashboard_cursor c ON c.org_id = f.org_id AND c.source = 'deliveries'
	WHERE f.org_id > $1 AND f.state IN ('open', 'capture') AND (
		EXISTS (SELECT 1 FROM event e WHERE e.org_id = f.org_id AND e.id > COALESCE(c.after, '00000000-0000-0000-0000-000000000000') AND e.id < $3)
		OR EXISTS (SELECT 1 FROM dashboard_fact k WHERE k.org_id = f.org_id AND k.kind = 'delivery'))
	ORDER BY f.org_id LIMIT $2`

// delivered is what became of a delivery.
type delivered struct {
	ID         id.Delivery
	State      string
	ResponseMs *int64
	At         time.Time
}

// counts are nil of one that has not come to an end.
func (d delivered) counts() counts {
	switch d.State {
	case "delivered":
		one := counts{"delivered": 1}
		if d.ResponseMs != nil {
			one["response:"+stepOf(*d.ResponseMs)] = 1
		}
		return one
	case "failed":
		return counts{"failed": 1}
	}
	return nil
}

// AdvanceDeliveries counts what became of the deliveries of the next events. A delivery is
// counted once, when it first came to an end, in the slot in which it was entered. It answers
// how many events there were.
func AdvanceDeliveries(ctx context.Context, t *tenant.Tenants, org id.Org, now time.Time) (n int, err error) {
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		n = 0
		at, err := lockCursor(ctx, tx, fromDeliveries)
		if err != nil {
			return err
		}
		again, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[delivered], selectUnsettled, tx.Org, unsettledAtOnce)
		if err != nil {
			return err
		}
		page, err := event.Follow(ctx, tx, at.after, stepEvents)
		for len(page) > 0 && !page[len(page)-1].At.Before(now.Add(-settles)) {
			page = page[:len(page)-1]
		}
		if err != nil || len(page)+len(again) == 0 {
			return err
		}
		n = len(page)
		var found []delivered
		if n > 0 {
			first := at.after
			at.after = page[n-1].ID
			found, err = tenant.AllIn(ctx, tx, pgx.RowToStructByPos[delivered], selectDeliveries, tx.Org, uuid.UUID(first), uuid.UUID(at.after))
			if err != nil {
				return err
			}
		}
		return settle(ctx, tx, at, found, again)
	}, tenant.Idempotent(true))
	return n, err
}

// selectDeliveries rides delivery_event_key, and selectUnsettled dashboard_fact_pkey and delivery_pkey.
const (
	selectDeliveries = `
		SELECT id, state, response_ms, created_at FROM delivery WHERE org_id = $1 AND event_id > $2 AND event_id <= $3`
	selectUnsettled = `
		SELECT k.id, COALESCE(d.state, 'gone'), d.response_ms, k.at
		FROM (SELECT org_id, id, at FROM dashboard_fact WHERE org_id = $1 AND kind = 'delivery' ORDER BY id LIMIT $2) k
		LEFT JOIN delivery d ON d.org_id = k.org_id AND d.id = k.id`
)

// settle counts deliveries that came to an end, and notes the others.
func settle(ctx context.Context, tx *tenant.Tx, at cursor, found, again []delivered) error {
	var (
		b     pgx.Batch
		cells = map[place]counts{}
		facts = map[factKey]fact{}
		notes = map[factKey]bool{}
	)
	take := func(d delivered, c counts) {
		p := place{ofDeliveries, uuid.UUID{}, uuid.UUID{}, slotOf(d.At)}
		if cells[p] == nil {
			cells[p] = counts{}
		}
		cells[p].add(c)
	}
	for _, d := range found {
		if c := d.counts(); c != nil {
			take(d, c)
			continue
		}
		key := factKey{sent, uuid.UUID(d.ID)}
		facts[key], notes[key] = fact{At: d.At}, true
	}
	for _, d := range again {
		c := d.counts()
		if c != nil {
			take(d, c)
		}
		if c != nil || d.State == "gone" {
			tx.Touch("dashboard_fact", word(sent), uuid.UUID(d.ID))
			b.Queue(`DELETE FROM dashboard_fact WHERE org_id = $1 AND kind = $2 AND id = $3`, tx.Org, sent, uuid.UUID(d.ID))
		}
	}
	if len(cells) > 0 {
		if err := addCells(ctx, tx, &b, cells); err != nil {
			return err
		}
	}
	queueFacts(tx, &b, facts, notes)
	at.queueSave(tx, &b)
	return tx.SendBatch(ctx, &b).Close()
}
