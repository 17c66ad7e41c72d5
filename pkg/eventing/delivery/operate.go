package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// What operators need to know and to do.

// Failing is a webhook that fails or is paused.
type Failing struct {
	Shard        string     `json:"shard"`
	Org          id.Org     `json:"organizationId"`
	Webhook      id.Webhook `json:"id"`
	Endpoint     string     `json:"endpoint"`
	FailingSince *time.Time `json:"failingSince"`
	PausedAt     *time.Time `json:"pausedAt"`
	// Waiting counts the deliveries whose next attempt is still to come.
	Waiting int64 `json:"waiting"`
	// LastError is the code of the latest delivery that waits or failed.
	LastError Code `json:"lastError"`
}

// ListFailing lists a shard's failing webhooks, the longest failing first. It
// rides webhook_failing, delivery_due and delivery_by_webhook.
func ListFailing(ctx context.Context, t *tenant.Tenants, shard string) ([]Failing, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT $1::TEXT, w.org_id, w.id, w.url, w.failing_since, w.paused_at,
			(SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL),
			COALESCE((
				SELECT d.error_code FROM delivery d
				WHERE d.org_id = w.org_id AND d.webhook_id = w.id AND d.error_code IS NOT NULL
				ORDER BY d.id DESC LIMIT 1), '')
		FROM webhook w JOIN org_fence f ON f.org_id = w.org_id AND f.state <> 'moved'
		WHERE (w.failing_since IS NOT NULL OR w.paused_at IS NOT NULL) AND w.deleted_at IS NULL
		ORDER BY w.failing_since`, shard)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Failing])
	for i := range found {
		// The rest of an address may hold tokens.
		found[i].Endpoint = webhook.Place(found[i].Endpoint)
	}
	return found, err
}

// drainBatch bounds the deliveries that one transaction closes.
const drainBatch = 5000

// Drain closes every delivery of a webhook that waits for an attempt, and
// answers how many those were. It rides delivery_due.
func Drain(ctx context.Context, t *tenant.Tenants, org id.Org, w id.Webhook, who activity.Actor) (closed int64, err error) {
	if err := event.NumberNow(ctx, t, org); err != nil {
		return 0, err
	}
	for {
		var n int
		err := t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			n, err = drainSome(ctx, tx, w)
			return err
		})
		closed += int64(n)
		if err != nil {
			return closed, fmt.Errorf("after %d deliveries: %w", closed, err)
		}
		if n < drainBatch {
			break
		}
	}
	return closed, t.InTx(ctx, org, func(_ context.Context, tx *tenant.Tx) error {
		who.Log(tx, "webhook.drained", "webhook", w, map[string]any{"closed": closed})
		return nil
	})
}

func drainSome(ctx context.Context, tx *tenant.Tx, w id.Webhook) (int, error) {
	rows, err := tx.Query(ctx, `
		UPDATE delivery SET state = 'failed', error_code = $3, due_at = NULL
		WHERE org_id = $1 AND id IN (
			SELECT d.id FROM delivery d WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.due_at IS NOT NULL LIMIT $4)
		RETURNING id`, tx.Org, w, WebhookInactive, drainBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[id.Delivery])
	for _, d := range found {
		tx.Touch("delivery", d)
	}
	return len(found), err
}
