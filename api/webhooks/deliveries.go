package webhooks

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerDeliveries(s *route.Service, one route.Operation) {
	one.Items = contract.DeliveryItem

	list := one
	list.ID, list.Method, list.Path, list.Class = "listWebhookDeliveries", http.MethodGet, "/webhooks/deliveries", "read"
	list.Summary = "Each event's delivery to each webhook, newest first"
	list.Description = "With its last attempt and, while retrying, the next one."
	route.List(s, list, a.listDeliveries)

	get := one
	get.ID, get.Method, get.Path, get.Class = "getWebhookDelivery", http.MethodGet, "/webhooks/deliveries/{id}", "read"
	get.Since, get.Summary = contract.V20261001, "One delivery with all its attempts"
	route.Handle(s, get, a.getDelivery)

	retry := one
	retry.ID, retry.Method, retry.Path, retry.Class = "retryWebhookDelivery", http.MethodPost, "/webhooks/deliveries/{id}/retry", "write"
	retry.Since, retry.Status, retry.Errors = contract.V20261001, http.StatusAccepted, []problem.Code{problem.Conflict}
	retry.Summary = "Make a delivery's next attempt now, whatever became of it"
	retry.Description = "If that attempt fails, the retries begin again from it."
	route.Handle(s, retry, a.retry)
}

// WebhookDelivery is the delivery of an event to a webhook (spec, WebhookDelivery).
type WebhookDelivery struct {
	ID            id.Delivery    `json:"id" doc:"Id of the delivery, with the prefix whd_."`
	WebhookID     id.Webhook     `json:"webhookId" doc:"The webhook that it goes to."`
	EventID       *id.Event      `json:"eventId" nullable:"true" doc:"The id of the body; null for a delivery older than the event log."`
	Event         event.Type     `json:"event" doc:"The event's type."`
	State         delivery.State `json:"state" enum:"pending,retrying,delivered,failed" doc:"pending during the first attempt, retrying between attempts, delivered or failed in the end."`
	Attempts      int64          `json:"attempts" doc:"How many were made."`
	Status        *int64         `json:"status" doc:"The HTTP status of the last attempt; null when none was reached."`
	OK            bool           `json:"ok" doc:"Whether it was answered with a 2xx."`
	ResponseMs    *int64         `json:"responseMs" doc:"How long the last answer took, in milliseconds; null where there was none."`
	ErrorCode     *delivery.Code `json:"errorCode" enum:"http_status,redirect,timeout,network,address_refused,internal_error,webhook_inactive,webhook_paused,unsubscribed,withdrawn,event_gone" doc:"Why the last attempt failed, or why the delivery was closed; null for neither."`
	NextAttemptAt *time.Time     `json:"nextAttemptAt" doc:"When the next attempt is made, while retrying."`
	CreatedAt     time.Time      `json:"createdAt" doc:"When the delivery was due first, in UTC."`
}

// WebhookDeliveryDetail is a delivery with all its attempts.
type WebhookDeliveryDetail struct {
	WebhookDelivery
	AttemptLog []WebhookAttempt `json:"attemptLog" doc:"The attempts, oldest first."`
}

// WebhookAttempt is one attempt of a delivery.
type WebhookAttempt struct {
	At         time.Time      `json:"at" doc:"When the attempt was made, in UTC."`
	Status     *int64         `json:"status" doc:"null when there was no answer"`
	ResponseMs *int64         `json:"responseMs" doc:"How long the answer took, in milliseconds; null where there was none."`
	ErrorCode  *delivery.Code `json:"errorCode" enum:"http_status,redirect,timeout,network,address_refused,internal_error" doc:"Why it failed; null for one that was answered with a 2xx."`
	Address    *string        `json:"address" doc:"The address connected to; null when there was no connection."`
}

func showDelivery(d delivery.Delivery) WebhookDelivery {
	shown := WebhookDelivery{
		ID: d.ID, WebhookID: d.Webhook, EventID: &d.Event, Event: d.Type, State: d.State, Attempts: d.Attempts, Status: d.Status,
		OK: d.State == delivery.Delivered, ResponseMs: d.ResponseMs, ErrorCode: d.Code, CreatedAt: d.CreatedAt.UTC(),
	}
	// That of a pending one is under way.
	if d.State == delivery.Retrying {
		shown.NextAttemptAt = route.UTC(d.DueAt)
	}
	return shown
}

func showAttempt(a delivery.Attempt) WebhookAttempt {
	return WebhookAttempt{a.At.UTC(), a.Status, a.ResponseMs, a.Code, a.Address}
}

// DeliveryQuery filters and pages the deliveries.
type DeliveryQuery struct {
	route.Paging
	WebhookID string       `query:"webhookId" maxLength:"80" doc:"Only deliveries to this webhook."`
	EventID   string       `query:"eventId" maxLength:"80" doc:"Only deliveries of this event."`
	State     string       `query:"state" maxLength:"80" doc:"One or more of pending, retrying, delivered, failed, separated by commas."`
	OK        string       `query:"ok" enum:"true,false" doc:"Only deliveries that were answered with a 2xx, or only those that were not."`
	From      route.Moment `query:"from" doc:"Deliveries created at or after this moment: an ISO date, midnight in UTC, or a date-time."`
	To        route.Moment `query:"to" doc:"Deliveries created before this moment: an ISO date, midnight in UTC, or a date-time."`
}

func (q DeliveryQuery) filter() (delivery.Filter, error) {
	f := delivery.Filter{From: q.From.Time, To: q.To.Time}
	var err error
	if f.Webhook, err = route.QueryID(id.ParseWebhook, "webhookId", q.WebhookID); err != nil {
		return f, err
	}
	if f.Event, err = route.QueryID(id.ParseEvent, "eventId", q.EventID); err != nil {
		return f, err
	}
	if f.States, err = route.Several("state", q.State, delivery.States()); err != nil {
		return f, err
	}
	if q.OK != "" {
		ok := q.OK == "true"
		f.OK = &ok
	}
	return f, nil
}

func (a *API) listDeliveries(ctx context.Context, c *route.Call, q *DeliveryQuery) (route.Page[WebhookDelivery], error) {
	return route.Listed(c, q.Paging, func(after delivery.Position, limit int) ([]delivery.Delivery, error) {
		filter, err := q.filter()
		if err != nil {
			return nil, err
		}
		return delivery.List(ctx, a.Tenants, c.Org(), filter, after, limit)
	}, func(d delivery.Delivery) delivery.Position { return d.ID }, showDelivery)
}

// DeliveryPath names a delivery.
type DeliveryPath struct {
	ID string `path:"id" doc:"The delivery's id, with or without whd_."`
}

func (a *API) getDelivery(ctx context.Context, c *route.Call, p *DeliveryPath) (WebhookDeliveryDetail, error) {
	d, attempts, err := a.find(ctx, c, p)
	shown := WebhookDeliveryDetail{showDelivery(d), make([]WebhookAttempt, len(attempts))}
	for i, attempt := range attempts {
		shown.AttemptLog[i] = showAttempt(attempt)
	}
	return shown, err
}

func (a *API) find(ctx context.Context, c *route.Call, p *DeliveryPath) (delivery.Delivery, []delivery.Attempt, error) {
	d, err := route.Lookup(id.ParseDelivery, p.ID, "delivery")
	if err != nil {
		return delivery.Delivery{}, nil, err
	}
	found, attempts, err := delivery.Get(ctx, a.Tenants, c.Org(), d)
	return found, attempts, asDeliveryProblem(err)
}

// asDeliveryProblem: a delivery without its webhook is gone with it.
func asDeliveryProblem(err error) error {
	if errdefs.IsNotFound(err, webhook.Noun) {
		return problem.Missing(string(delivery.Noun)).WithParam("path.id")
	}
	return err
}

func (a *API) retry(ctx context.Context, c *route.Call, p *DeliveryPath) (WebhookDelivery, error) {
	wanted, _, err := a.find(ctx, c, p)
	if err != nil {
		return WebhookDelivery{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (WebhookDelivery, error) {
		w, err := webhook.Lock(ctx, tx, wanted.Webhook)
		if err != nil {
			return WebhookDelivery{}, asDeliveryProblem(err)
		}
		if err := checkReceives(w); err != nil {
			return WebhookDelivery{}, err
		}
		d, err := delivery.Find(ctx, tx, wanted.ID)
		if err != nil {
			return WebhookDelivery{}, asDeliveryProblem(err)
		}
		d, err = delivery.Reopen(ctx, tx, d, c.Actor())
		return showDelivery(d), err
	})
}

// checkReceives refuses what would not be delivered (spec, Webhook activity).
func checkReceives(w webhook.Webhook) error {
	switch {
	case w.Active:
		return nil
	case w.PausedAt != nil:
		return problem.Conflicting("webhook_paused", "The webhook is paused after failing for three days; resume it first.").WithParam("path.id")
	}
	return problem.Conflicting("webhook_inactive", "The webhook is switched off.").WithParam("path.id")
}

func (a *API) test(ctx context.Context, c *route.Call, p *Path) (WebhookDelivery, error) {
	wanted, err := p.webhook()
	if err != nil {
		return WebhookDelivery{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (WebhookDelivery, error) {
		w, err := webhook.Lock(ctx, tx, wanted)
		if err != nil {
			return WebhookDelivery{}, asProblem(err)
		}
		if err := checkReceives(w); err != nil {
			return WebhookDelivery{}, err
		}
		d, err := delivery.Test(ctx, tx, w.ID, c.Actor())
		return showDelivery(d), err
	})
}
