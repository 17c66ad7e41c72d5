package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Recovery is what to deliver again: the deliveries of a time range in some
// states, and the events of that range that were never due because the webhook
// was paused or switched off.
type Recovery struct {
	Webhook id.Webhook `json:"webhook"`
	From    time.Time  `json:"from"`
	To      time.Time  `json:"to"`
	States  []State    `json:"states"`
	Missed  bool       `json:"missed"`
}

// Propose queues a recovery.
func (r Recovery) Propose(ctx context.Context, tx *tenant.Tx, who activity.Actor) (job.Job, error) {
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.WebhookRecover, ResourceKind: "webhook", ResourceID: r.Webhook.String(), Scope: scope.WebhooksManage,
		CreatedBy: who.By, CreatedAt: who.At,
	}, r)
	if err != nil {
		return j, err
	}
	who.Log(tx, "webhook.recovered", "webhook", r.Webhook, map[string]any{
		"from": r.From, "to": r.To, "states": r.States, "missed": r.Missed, "jobId": j.ID,
	})
	return j, nil
}

// recovered is how far a recovery got.
type recovered struct {
	// Opened is the last delivery that was opened again, and Read the last
	// event that was looked at.
	Opened id.Delivery `json:"opened"`
	Read   id.Event    `json:"read"`
	// Reopened says that no delivery is left, and Complete that no event is.
	Reopened bool `json:"reopened"`
	Complete bool `json:"complete"`
}

const (
	// window bounds the deliveries of a recovery that wait for their attempt,
	// so that an event that happens now waits behind so many at most.
	window = 200
	// recoverPause is how long a recovery waits for some of them to be finished.
	recoverPause = 50 * time.Millisecond
	// eventsAtOnce is how many events a step looks at.
	eventsAtOnce = 1000
)

// Recover is the step of a job.WebhookRecover.
func Recover(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	var (
		r Recovery
		p recovered
	)
	if err := json.Unmarshal(j.Input, &r); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(j.Progress, &p); err != nil {
		return 0, err
	}
	w, err := receiving(ctx, tx, r.Webhook)
	if err != nil || w == nil {
		j.State, j.ErrorCode = job.Failed, string(WebhookInactive)
		return 0, err
	}
	if !j.Counted() {
		if j.Total, err = r.count(ctx, tx, w); err != nil {
			return 0, err
		}
	}
	open, err := unfinished(ctx, tx, j.ID)
	if err != nil {
		return 0, err
	}
	switch {
	case open > window/2:
	case !p.Reopened:
		err = r.reopen(ctx, tx, j, &p, window-open, now)
	case !p.Complete:
		err = r.enter(ctx, tx, j, &p, w, window-open, now)
	case open == 0:
		j.State = job.Succeeded
	}
	if err != nil {
		return 0, err
	}
	j.Progress, err = json.Marshal(p)
	return recoverPause, err
}

// receiving is the webhook if it can receive; nil if not.
func receiving(ctx context.Context, tx *tenant.Tx, which id.Webhook) (*webhook.Webhook, error) {
	w, err := webhook.Peek(ctx, tx, which)
	if err != nil || w == nil || !w.Active {
		return nil, err
	}
	return w, nil
}

// unfinished counts what the job opened and no attempt was made of yet. It
// rides delivery_by_job.
func unfinished(ctx context.Context, tx *tenant.Tx, j id.Job) (n int, err error) {
	err = tx.QueryRow(ctx, `
		SELECT count(*) FROM delivery
		WHERE org_id = $1 AND job_id = $2 AND due_at IS NOT NULL AND first_attempt_at IS NULL`, tx.Org, j).Scan(&n)
	return n, err
}

// count counts what is to be delivered again.
func (r Recovery) count(ctx context.Context, tx *tenant.Tx, w *webhook.Webhook) (int64, error) {
	var deliveries, events int64
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM delivery
		WHERE org_id = $1 AND webhook_id = $2 AND id >= $3 AND id < $4 AND state = ANY($5)`,
		tx.Org, r.Webhook, id.FirstDelivery(r.From), id.FirstDelivery(r.To), r.States).Scan(&deliveries); err != nil || !r.Missed {
		return deliveries, err
	}
	err := tx.QueryRow(ctx, `
		SELECT count(*) FROM event e
		WHERE e.org_id = $1 AND e.id >= $2 AND e.id < $3 AND e.type = ANY($4) AND NOT EXISTS (
			SELECT 1 FROM delivery d WHERE d.org_id = e.org_id AND d.event_id = e.id AND d.webhook_id = $5)`,
		tx.Org, id.FirstEvent(r.From), id.FirstEvent(r.To), wanted(w), r.Webhook).Scan(&events)
	return deliveries + events, err
}

// wanted are the types a webhook asks for.
func wanted(w *webhook.Webhook) []event.Type {
	var types []event.Type
	for _, k := range event.Kinds() {
		// A test is for the webhook it was made for alone.
		if k.Type != event.WebhookTest && w.Subscription().Wants(k) {
			types = append(types, k.Type)
		}
	}
	return types
}

// reopen opens the next deliveries again, oldest first. It rides
// delivery_by_webhook.
func (r Recovery) reopen(ctx context.Context, tx *tenant.Tx, j *job.Job, p *recovered, n int, now time.Time) error {
	from := id.FirstDelivery(r.From)
	if !p.Opened.IsZero() {
		from = p.Opened.Next()
	}
	rows, err := tx.Query(ctx, `
		UPDATE delivery SET state = CASE WHEN attempts = 0 THEN 'pending' ELSE 'retrying' END,
			error_code = CASE WHEN attempts = 0 THEN NULL ELSE error_code END,
			due_at = $7, first_attempt_at = NULL, job_id = $6
		WHERE org_id = $1 AND id IN (
			SELECT id FROM delivery
			WHERE org_id = $1 AND webhook_id = $2 AND id >= $3 AND id < $4 AND state = ANY($5)
			ORDER BY id LIMIT $8)
		RETURNING id`, tx.Org, r.Webhook, from, id.FirstDelivery(r.To), r.States, j.ID, now, n)
	if err != nil {
		return err
	}
	opened, err := pgx.CollectRows(rows, pgx.RowTo[id.Delivery])
	if err != nil {
		return err
	}
	for _, d := range opened {
		tx.Touch("delivery", d)
		if p.Opened.IsZero() || bytes.Compare(d[:], p.Opened[:]) > 0 {
			p.Opened = d
		}
	}
	j.Done += int64(len(opened))
	if p.Reopened = len(opened) < n; p.Reopened && !r.Missed {
		p.Complete = true
	}
	return nil
}

// enter enters deliveries of the next events that had none.
func (r Recovery) enter(ctx context.Context, tx *tenant.Tx, j *job.Job, p *recovered, w *webhook.Webhook, n int, now time.Time) error {
	from := id.FirstEvent(r.From)
	if !p.Read.IsZero() {
		from = p.Read.Next()
	}
	rows, err := tx.Query(ctx, `
		SELECT e.id, e.type, d.id IS NULL FROM event e
		LEFT JOIN delivery d ON d.org_id = e.org_id AND d.event_id = e.id AND d.webhook_id = $4
		WHERE e.org_id = $1 AND e.id >= $2 AND e.id < $3 ORDER BY e.id LIMIT $5`,
		tx.Org, from, id.FirstEvent(r.To), r.Webhook, eventsAtOnce)
	if err != nil {
		return err
	}
	type candidate struct {
		ID     id.Event
		Type   event.Type
		Missed bool
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
	if err != nil {
		return err
	}
	types := wanted(w)
	var missed []event.Missed
	for _, e := range found {
		if len(missed) == n {
			break
		}
		p.Read = e.ID
		if e.Missed && slices.Contains(types, e.Type) {
			missed = append(missed, event.Missed{Event: e.ID, Type: e.Type})
		}
	}
	j.Done += int64(len(missed))
	p.Complete = len(missed) < n && len(found) < eventsAtOnce
	return event.Enter(ctx, tx, w.Subscription(), j.ID, missed, now)
}
