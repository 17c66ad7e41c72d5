package delivery

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// State is where a delivery stands (spec, Delivery states).
type State string

// The states.
const (
	// Pending: the first attempt is under way.
	Pending State = "pending"
	// Retrying: the next attempt is at DueAt.
	Retrying State = "retrying"
	// Delivered: a 2xx answer was received.
	Delivered State = "delivered"
	// Failed: no attempt is left, or the delivery was closed.
	Failed State = "failed"
)

// States lists every state.
func States() []State { return []State{Pending, Retrying, Delivered, Failed} }

// Code says why an attempt failed or a delivery was closed (spec,
// WebhookDelivery).
type Code string

// The codes of attempts that failed.
const (
	// HTTPStatus: the answer was not 2xx.
	HTTPStatus Code = "http_status"
	// Redirect: the answer was a redirect, which is never followed.
	Redirect Code = "redirect"
	// Timeout: there was no answer within ten seconds.
	Timeout Code = "timeout"
	// Network: no connection, no valid certificate, no HTTP.
	Network Code = "network"
	// AddressRefused: the address is not a public one.
	AddressRefused Code = "address_refused"
	// InternalError: the fault is ours.
	InternalError Code = "internal_error"
)

// The codes of deliveries that were closed without an attempt.
const (
	// WebhookInactive: the webhook was switched off.
	WebhookInactive Code = "webhook_inactive"
	// WebhookPaused: the webhook was paused after failing for three days.
	WebhookPaused Code = "webhook_paused"
	// Unsubscribed: the webhook no longer asks for the type.
	Unsubscribed Code = "unsubscribed"
	// Withdrawn: the rules forbid it now.
	Withdrawn Code = "withdrawn"
	// EventGone: the event, or what it was about, is gone.
	EventGone Code = "event_gone"
)

// Delivery is the delivery of an event to a webhook.
type Delivery struct {
	ID      id.Delivery
	Webhook id.Webhook
	Event   id.Event
	Type    event.Type
	State   State
	// Attempts counts those that were made.
	Attempts int64
	// Status, ResponseMs and Code are the last attempt's; nil where there is none.
	Status     *int64
	ResponseMs *int64
	Code       *Code
	CreatedAt  time.Time
	// DueAt is when the next attempt is made; nil when none is.
	DueAt *time.Time
}

// Attempt is one attempt of a delivery.
type Attempt struct {
	At time.Time `json:"at"`
	// Status is nil when there was no answer.
	Status *int64 `json:"status"`
	// ResponseMs is nil when nothing was sent.
	ResponseMs *int64 `json:"responseMs"`
	Code       *Code  `json:"errorCode"`
	// Address is the one connected to; nil when there was no connection.
	Address *string `json:"address"`
}

// Noun is what errors call a delivery.
const Noun errdefs.Noun = "delivery"

// Filter narrows a list; zero fields do not.
type Filter struct {
	Webhook  id.Webhook
	Event    id.Event
	States   []State
	OK       *bool
	From, To time.Time
}

// Position is where a page ended.
type Position = id.Delivery

var endOfTime = time.UnixMilli(1<<48 - 1)

const columns = `d.id, d.webhook_id, d.event_id, d.type, d.state, d.attempts, d.status, d.response_ms, d.error_code,
	d.created_at, d.due_at`

// known holds of deliveries whose webhook was not deleted.
const known = ` AND EXISTS (
	SELECT 1 FROM webhook w WHERE w.org_id = d.org_id AND w.id = d.webhook_id AND w.deleted_at IS NULL)`

// List is a page of an organization's deliveries, newest first, after a
// position, the zero one for the first page. It rides delivery_event_key,
// delivery_by_webhook or delivery_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after Position, limit int) ([]Delivery, error) {
	if err := event.NumberNow(ctx, t, org); err != nil {
		return nil, err
	}
	// The id's time is the delivery's, so the moments bound the scan.
	lo, hi := id.FirstDelivery(f.From), id.FirstDelivery(endOfTime)
	if !f.To.IsZero() {
		hi = id.FirstDelivery(f.To)
	}
	if !after.IsZero() && bytes.Compare(after[:], hi[:]) < 0 {
		hi = after
	}
	sql := `SELECT ` + columns + ` FROM delivery d WHERE d.org_id = $1 AND d.id >= $2 AND d.id < $3
		AND ($4::TEXT[] IS NULL OR d.state = ANY($4)) AND ($5::BOOLEAN IS NULL OR (d.state = 'delivered') = $5)`
	args := []any{org, lo, hi, f.States, f.OK, limit}
	if !f.Webhook.IsZero() {
		args = append(args, f.Webhook)
		sql += ` AND d.webhook_id = $7`
	}
	if !f.Event.IsZero() {
		args = append(args, f.Event)
		sql += ` AND d.event_id = $` + strconv.Itoa(len(args))
	}
	sql += known + ` ORDER BY d.id DESC LIMIT $6`
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Delivery], sql, args...)
}

// Get finds a delivery and its attempts, oldest first. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, d id.Delivery) (Delivery, []Attempt, error) {
	var (
		found    Delivery
		attempts []Attempt
		exists   bool
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&exists, append(found.fields(), &attempts),
			`SELECT `+columns+`, d.log FROM delivery d WHERE d.org_id = $1 AND d.id = $2`+known, org, d)
	})
	if err == nil && !exists {
		err = Noun.NotFound(d)
	}
	return found, attempts, err
}

func (d *Delivery) fields() []any {
	return []any{
		&d.ID, &d.Webhook, &d.Event, &d.Type, &d.State, &d.Attempts, &d.Status, &d.ResponseMs, &d.Code, &d.CreatedAt, &d.DueAt,
	}
}

// Find reads a delivery in a transaction and locks it. The error is errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, d id.Delivery) (Delivery, error) {
	var found Delivery
	err := tx.QueryRow(ctx, `SELECT `+columns+` FROM delivery d WHERE d.org_id = $1 AND d.id = $2`+known+` FOR UPDATE`, tx.Org, d).
		Scan(found.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = Noun.NotFound(d)
	}
	return found, err
}

// Reopen makes the next attempt of a delivery now, whatever became of it, and
// answers it as it is then. Its schedule begins again with that attempt.
func Reopen(ctx context.Context, tx *tenant.Tx, d Delivery, who activity.Actor) (Delivery, error) {
	d.State, d.DueAt = Retrying, &who.At
	if d.Attempts == 0 {
		// Why it was closed is of the past; why an attempt failed stays its last.
		d.State, d.Code = Pending, nil
	}
	tx.Touch("delivery", d.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE delivery SET state = $3, due_at = $4, error_code = $5, first_attempt_at = NULL WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, d.State, who.At, d.Code); err != nil {
		return d, err
	}
	who.Log(tx, "webhook.delivery_retried", "webhook_delivery", d.ID, map[string]any{"webhookId": d.Webhook, "eventId": d.Event})
	return d, nil
}

// testMessage is what a test of a webhook says.
const testMessage = "This is a test of your webhook."

// Test sends an event to a webhook alone, and answers its delivery.
func Test(ctx context.Context, tx *tenant.Tx, w id.Webhook, who activity.Actor) (Delivery, error) {
	recorded, err := event.Record(ctx, tx, event.Draft{
		Type: event.WebhookTest, At: who.At, Only: w,
		Fields: map[string]any{"webhookId": w, "message": testMessage, "requestedBy": who.By},
	})
	if err != nil {
		return Delivery{}, err
	}
	d, err := Find(ctx, tx, recorded[0].Deliveries[0])
	if err != nil {
		return d, err
	}
	who.Log(tx, "webhook.tested", "webhook", w, map[string]any{"eventId": d.Event})
	return d, nil
}

// SweepBatch bounds the rows that one statement deletes.
const SweepBatch = 5000

// Sweep deletes finished deliveries older than event.Retention. It rides delivery_pkey.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepEach(ctx, shard, SweepBatch, `
		DELETE FROM delivery WHERE org_id = $1 AND id IN (
			SELECT d.id FROM delivery d
			WHERE d.org_id = $1 AND d.id < $3 AND d.due_at IS NULL
			ORDER BY d.id LIMIT $2)
		AND EXISTS (SELECT 1 FROM org_fence f WHERE f.org_id = $1 AND f.state = 'open')`, id.FirstDelivery(now.Add(-event.Retention)))
}
