package delivery

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
)

// head is the first open delivery of a webhook.
type head struct {
	Org     id.Org
	Webhook id.Webhook
	Due     time.Time
}

// heads finds the first open delivery of each webhook of a shard, however many each has. It
// remembers which webhooks had one, for the next time.
type heads struct{ known []id.Webhook }

// waiting are the heads that are due, by their webhooks, and when the next one will be, zero
// where none is.
type waiting struct {
	due  []head
	next time.Time
}

// sort takes heads that are due or not yet.
func (w *waiting) sort(all []head, now time.Time) {
	for _, h := range all {
		switch {
		case !h.Due.After(now):
			w.due = append(w.due, h)
		case w.next.IsZero() || h.Due.Before(w.next):
			w.next = h.Due
		}
	}
}

// find finds what waits on a shard.
func (h *heads) find(ctx context.Context, db *database.DB, now time.Time) (found waiting, err error) {
	engine, err := db.Engine(ctx)
	if err != nil {
		return found, err
	}
	if engine == database.Cockroach {
		return h.step(ctx, db, now)
	}
	rows, err := db.Query(ctx, selectHeads, now)
	if err != nil {
		return found, err
	}
	return found, found.read(rows, now)
}

// read takes the rows of selectHeads.
func (w *waiting) read(rows pgx.Rows, now time.Time) error {
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[head])
	w.sort(all, now)
	return err
}

// selectHeads steps from webhook to webhook along the index delivery_due. It costs as many
// steps as there are webhooks with something open, however much that is. Of those that are
// not due yet it answers when the first will be.
const selectHeads = `
	WITH RECURSIVE head (org_id, webhook_id, due_at) AS (
		(SELECT org_id, webhook_id, due_at FROM delivery
			WHERE due_at IS NOT NULL ORDER BY webhook_id, due_at LIMIT 1)
		UNION ALL
		SELECT n.org_id, n.webhook_id, n.due_at FROM head CROSS JOIN LATERAL (
			SELECT d.org_id, d.webhook_id, d.due_at FROM delivery d
			WHERE d.due_at IS NOT NULL AND d.webhook_id > head.webhook_id
			ORDER BY d.webhook_id, d.due_at LIMIT 1
		) AS n
	)
	SELECT org_id, webhook_id, due_at FROM head WHERE due_at <= $1
	UNION ALL SELECT '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', min(due_at)
		FROM head WHERE due_at > $1 HAVING count(*) > 0`

// selectNext is one such step, and the number of rows to read of what follows. CockroachDB
// makes a join of the recursive steps, which reads the rest of the index each time.
const selectNext = `
	SELECT org_id, webhook_id, due_at FROM delivery
	WHERE due_at IS NOT NULL AND webhook_id > $1 ORDER BY webhook_id, due_at LIMIT `

// exploreRows is how many rows are read at once where webhooks are not known yet.
const exploreRows = 64

// step is find by plain queries. In one trip it takes a step from each webhook that is known,
// which leads to the next one; further trips are for webhooks that were not.
func (h *heads) step(ctx context.Context, db *database.DB, now time.Time) (waiting, error) {
	w := walk{found: map[id.Webhook]head{}, stepped: map[id.Webhook]bool{}}
	size := 1
	if len(h.known) == 0 {
		size = exploreRows
	}
	var b pgx.Batch
	w.step(&b, id.Webhook{}, size)
	for _, known := range h.known {
		w.step(&b, known, size)
	}
	for b.Len() > 0 {
		if err := db.SendBatch(ctx, &b).Close(); err != nil {
			return waiting{}, err
		}
		b = pgx.Batch{}
		ends := w.ends
		w.ends = nil
		for _, end := range ends {
			if !w.stepped[end] {
				w.step(&b, end, exploreRows)
			}
		}
	}
	return h.remember(w.found, now), nil
}

// walk is one pass over the index.
type walk struct {
	found   map[id.Webhook]head
	stepped map[id.Webhook]bool
	// ends are the webhooks at which full pages ended.
	ends []id.Webhook
}

// step queues a page of what comes after a webhook.
func (w *walk) step(b *pgx.Batch, after id.Webhook, size int) {
	w.stepped[after] = true
	b.Queue(selectNext+strconv.Itoa(size), uuid.UUID(after)).Query(func(rows pgx.Rows) error { // the zero id would be NULL
		read, err := pgx.CollectRows(rows, pgx.RowToStructByPos[head])
		for _, next := range read {
			if first, seen := w.found[next.Webhook]; !seen || next.Due.Before(first.Due) {
				w.found[next.Webhook] = next
			}
		}
		if len(read) == size {
			w.ends = append(w.ends, read[size-1].Webhook)
		}
		return err
	})
}

// remember keeps the webhooks that were found, and answers their heads in their order.
func (h *heads) remember(found map[id.Webhook]head, now time.Time) (w waiting) {
	h.known = h.known[:0]
	for w := range found {
		h.known = append(h.known, w)
	}
	slices.SortFunc(h.known, func(a, b id.Webhook) int { return bytes.Compare(a[:], b[:]) })
	all := make([]head, len(h.known))
	for i, webhook := range h.known {
		all[i] = found[webhook]
	}
	w.sort(all, now)
	return w
}

// headsOf are the first open deliveries of webhooks. It rides delivery_due once for each.
func headsOf(ctx context.Context, db *database.DB, now time.Time, webhooks []id.Webhook) (found waiting, err error) {
	var b pgx.Batch
	for _, w := range webhooks {
		b.Queue(`
			SELECT org_id, webhook_id, due_at FROM delivery
			WHERE webhook_id = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`, w).Query(func(rows pgx.Rows) error {
			return found.read(rows, now)
		})
	}
	return found, db.SendBatch(ctx, &b).Close()
}
