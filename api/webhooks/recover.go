package webhooks

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRecovery(s *route.Service, one route.Operation) {
	one.ID, one.Method, one.Path, one.Class = "recoverWebhook", http.MethodPost, "/webhooks/{id}/recover", "heavy"
	one.Since, one.Status, one.Idempotent = contract.V20261001, http.StatusAccepted, true
	one.Errors, one.Items = []problem.Code{problem.Conflict}, contract.JobItem
	one.Summary = "Deliver again what a webhook missed"
	one.Description = "Delivers the deliveries of a time range in some states again, however many there are, and the events of that range " +
		"that had no delivery because the webhook was paused or switched off. The answer is a job; what happens meanwhile is delivered beside it."
	route.Handle(s, one, a.recover)
}

// RecoverInput is the request for a recovery.
type RecoverInput struct {
	Path
	Body WebhookRecovery
}

// WebhookRecovery says what to deliver again.
type WebhookRecovery struct {
	From   time.Time        `json:"from" doc:"Deliveries and events at or after this moment."`
	To     *time.Time       `json:"to,omitempty" doc:"Those before this moment; now unless given."`
	States []delivery.State `json:"states,omitempty" minItems:"1" maxItems:"4" enum:"pending,retrying,delivered,failed" doc:"The states of the deliveries; failed unless given."`
	Missed *bool            `json:"missed,omitempty" doc:"Whether to deliver events that had no delivery too; true unless given."`
}

func (a *API) recover(ctx context.Context, c *route.Call, in *RecoverInput) (jobs.Job, error) {
	wanted, err := in.webhook()
	if err != nil {
		return jobs.Job{}, err
	}
	r, err := in.Body.recovery(c)
	if err != nil {
		return jobs.Job{}, err
	}
	r.Webhook = wanted
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		w, err := webhook.Peek(ctx, tx, wanted)
		if err == nil && w == nil {
			err = webhook.Noun.NotFound(wanted)
		}
		if err != nil {
			return jobs.Job{}, err
		}
		if err := checkReceives(*w); err != nil {
			return jobs.Job{}, err
		}
		j, err := r.Propose(ctx, tx, c.Actor())
		return jobs.Show(j), err
	})
}

// recovery reads the request with what holds where it says nothing.
func (b WebhookRecovery) recovery(c *route.Call) (delivery.Recovery, error) {
	r := delivery.Recovery{From: b.From.UTC(), To: c.Now(), States: b.States, Missed: b.Missed == nil || *b.Missed}
	if b.To != nil {
		r.To = b.To.UTC()
	}
	if len(r.States) == 0 {
		r.States = []delivery.State{delivery.Failed}
	}
	if err := route.CheckTime("body.from", r.From); err != nil {
		return r, err
	}
	if err := route.CheckTime("body.to", r.To); err != nil {
		return r, err
	}
	if !r.From.Before(r.To) {
		return r, problem.Invalid("body.from", "from must lie before to.")
	}
	return r, nil
}
