package webhooks

import (
	"context"
	"fmt"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Input is the request for a new webhook.
type Input struct{ Body WebhookInput }

// WebhookInput is a webhook to be made.
type WebhookInput struct {
	URL                 string   `json:"url" maxLength:"2048" doc:"A public https address. Redirects are never followed."`
	Events              []string `json:"events,omitempty" maxItems:"100" doc:"Event types, or * for every type but those that must be named; * unless given."`
	Description         *string  `json:"description,omitempty" maxLength:"200" doc:"What the webhook is for, for people."`
	IncludeConversation bool     `json:"includeConversation,omitempty" doc:"Send conversation words where the privacy rules allow; false unless given. Needs a key that holds transcripts:read."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (WebhookWithSecret, error) {
	b := in.Body
	if b.Events == nil {
		b.Events = []string{event.Any}
	}
	change := webhook.Change{
		URL: &b.URL, Description: &b.Description, Events: &b.Events, IncludeConversation: &b.IncludeConversation,
	}
	if err := a.check(ctx, change); err != nil {
		return WebhookWithSecret{}, err
	}
	now, secret := c.Now(), webhook.NewSecret()
	blank := webhook.Webhook{ID: id.NewWebhook(), Active: true, APIVersion: c.Principal.Key.Contract, CreatedAt: now, UpdatedAt: now, ManagedBy: managed.API}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (WebhookWithSecret, error) {
		w, changes, err := apply(ctx, c, tx, blank, change)
		if err != nil {
			return WebhookWithSecret{}, err
		}
		changes["apiVersion"] = w.APIVersion
		full, err := webhook.Insert(ctx, tx, a.Vault, w, secret, c.Principal.Terms, changes, c.Actor())
		if err != nil {
			return WebhookWithSecret{}, err
		}
		if full {
			return WebhookWithSecret{}, a.Plans.LimitReached(c.Principal.Terms, plan.Webhooks)
		}
		return WebhookWithSecret{show(w), secret}, nil
	})
}

// UpdateInput is the request for a change of a webhook.
type UpdateInput struct {
	Path
	Body WebhookChange
}

// WebhookChange is what to change of a webhook.
type WebhookChange struct {
	URL                 route.Opt[string]           `json:"url,omitzero" maxLength:"2048" doc:"Another public https address; it is checked again before every attempt."`
	Events              route.Opt[[]string]         `json:"events,omitzero" maxItems:"100" doc:"All types to receive from now on, or * alone for every type that need not be named."`
	Description         route.OptNull[string]       `json:"description,omitzero" maxLength:"200" doc:"null for none"`
	Active              route.Opt[bool]             `json:"active,omitzero" doc:"true resumes a paused webhook, false switches it off"`
	APIVersion          route.Opt[contract.Version] `json:"apiVersion,omitzero" enum:"2026-07-08,2026-10-01" doc:"Moves its deliveries to that contract, from the next event."`
	IncludeConversation route.Opt[bool]             `json:"includeConversation,omitzero" doc:"true needs a key that holds transcripts:read"`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Webhook, error) {
	wanted, err := in.webhook()
	if err != nil {
		return Webhook{}, err
	}
	b := in.Body
	change := webhook.Change{
		URL: b.URL.Ptr(), Description: b.Description.Ptr(), Events: b.Events.Ptr(), Active: b.Active.Ptr(),
		APIVersion: b.APIVersion.Ptr(), IncludeConversation: b.IncludeConversation.Ptr(),
	}
	if err := a.check(ctx, change); err != nil {
		return Webhook{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Webhook, error) {
		before, err := webhook.LockFor(ctx, tx, wanted, managed.API)
		if err != nil {
			return Webhook{}, asProblem(err)
		}
		w, changes, err := apply(ctx, c, tx, before, change)
		if err != nil || len(changes) == 0 {
			return show(before), err
		}
		w.UpdatedAt = c.Now()
		return show(w), webhook.Update(ctx, tx, w, webhook.Updated, changes, c.Actor())
	})
}

// check checks a new address. That can take a while, so it is done before the
// transaction.
func (a *API) check(ctx context.Context, change webhook.Change) error {
	if change.URL == nil {
		return nil
	}
	return asProblem(webhook.CheckURL(ctx, a.Egress, *change.URL))
}

// apply makes a change as far as the caller and the organization may.
func apply(ctx context.Context, c *route.Call, tx *tenant.Tx, w webhook.Webhook, change webhook.Change) (webhook.Webhook, map[string]any, error) {
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err != nil {
		return w, nil, err
	}
	after, changes, err := w.Apply(change, webhook.Circumstances{
		ReadsTranscripts: c.Principal.Key.Grant().Holds(scope.TranscriptsRead), ZeroRetention: zero,
	})
	return after, changes, asProblem(err)
}

func asEventProblem(e *webhook.EventError) *problem.Problem {
	param := fmt.Sprintf("body.events[%d]", e.Index)
	if e.NeedsConversation {
		return problem.Invalid(param, "%s is of a type that is sent only with includeConversation true.", param)
	}
	return problem.Invalid(param, "%s is not an event type; GET /event-types lists them.", param)
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	w, err := p.webhook()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		return route.Deleted{Deleted: true, ID: w.String()}, asProblem(webhook.Delete(ctx, tx, w, managed.API, c.Actor()))
	})
}

// RotateInput is the request for another secret.
type RotateInput struct {
	Path
	Body *WebhookRotation
}

// WebhookRotation says how a secret is replaced.
type WebhookRotation struct {
	GraceS int64 `json:"graceS,omitempty" minimum:"0" maximum:"604800" doc:"How many seconds deliveries are signed with the old secret too; 0 unless given."`
}

func (a *API) rotate(ctx context.Context, c *route.Call, in *RotateInput) (WebhookWithSecret, error) {
	wanted, err := in.webhook()
	if err != nil {
		return WebhookWithSecret{}, err
	}
	var graceS int64
	if in.Body != nil {
		graceS = in.Body.GraceS
	}
	secret := webhook.NewSecret()
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (WebhookWithSecret, error) {
		w, err := webhook.LockFor(ctx, tx, wanted, managed.API)
		if err != nil {
			return WebhookWithSecret{}, asProblem(err)
		}
		w.UpdatedAt = c.Now()
		return WebhookWithSecret{show(w), secret}, webhook.Rotate(ctx, tx, a.Vault, w.ID, secret, time.Duration(graceS)*time.Second, c.Actor())
	})
}
