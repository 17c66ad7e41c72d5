// Package webhooks declares the operations on webhooks and on the log of
// their deliveries (spec, Webhooks).
package webhooks

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Egress  *egress.Guard
	Plans   *plan.Catalogue
	Vault   *vault.Vault
}

// Register declares the operations. Those on deliveries come first: their path
// would be a webhook's too.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	one := route.Operation{Group: "Webhooks", Scope: scope.WebhooksManage}
	a.registerDeliveries(s, one)

	list := one
	list.ID, list.Method, list.Path, list.Class = "listWebhooks", http.MethodGet, "/webhooks", "read"
	list.Summary = "The organization's webhooks, newest first"
	route.List(s, list, a.list)

	create := one
	create.ID, create.Method, create.Path, create.Class = "createWebhook", http.MethodPost, "/webhooks", "write"
	create.Status, create.Idempotent, create.ShowsSecret = http.StatusCreated, true, true
	create.Errors = []problem.Code{problem.Conflict}
	create.Summary = "Make a webhook; its signing secret is shown in this answer only"
	create.Description = "Its deliveries are written in the contract that the calling key is pinned to. It receives every type of event that it names, " +
		"or every one by default, whatever else the calling key may read; only the words of conversations need transcripts:read as well."
	route.Handle(s, create, a.create)

	get := one
	get.ID, get.Method, get.Path, get.Class = "getWebhook", http.MethodGet, "/webhooks/{id}", "read"
	get.Since, get.Summary = contract.V20261001, "One webhook"
	route.Handle(s, get, a.get)

	update := one
	update.ID, update.Method, update.Path, update.Class = "updateWebhook", http.MethodPatch, "/webhooks/{id}", "write"
	update.Since, update.Errors = contract.V20261001, []problem.Code{problem.Conflict}
	update.Summary = "Change a webhook, switch it off or resume it, or move it to another contract"
	update.Description = "Changing the address, the events or the contract of a webhook that receives conversation words, " +
		"or switching it back on, needs transcripts:read."
	route.Handle(s, update, a.update)

	remove := one
	remove.ID, remove.Method, remove.Path, remove.Class = "deleteWebhook", http.MethodDelete, "/webhooks/{id}", "write"
	remove.Errors = []problem.Code{problem.Conflict}
	remove.Summary = "Delete a webhook and its delivery log"
	route.Handle(s, remove, a.delete)

	test := one
	test.ID, test.Method, test.Path, test.Class = "testWebhook", http.MethodPost, "/webhooks/{id}/test", "write"
	test.Since, test.Status, test.Idempotent, test.Items = contract.V20261001, http.StatusAccepted, true, contract.DeliveryItem
	test.Errors = []problem.Code{problem.Conflict}
	test.Summary = "Send a webhook.test event to this webhook, whatever types it names"
	route.Handle(s, test, a.test)

	rotate := one
	rotate.ID, rotate.Method, rotate.Path, rotate.Class = "rotateWebhookSecret", http.MethodPost, "/webhooks/{id}/rotate-secret", "write"
	rotate.Since, rotate.Idempotent, rotate.ShowsSecret = contract.V20261001, true, true
	rotate.Errors = []problem.Code{problem.Conflict}
	rotate.Summary = "Give a webhook another signing secret, shown in this answer only"
	rotate.Description = "For graceS seconds every delivery also carries the header X-Service-Signature-Previous: " +
		"the signature of the same bytes made with the secret that was replaced. " +
		"A receiver that accepts either can take the new secret without losing a delivery."
	route.Handle(s, rotate, a.rotate)

	a.registerRecovery(s, one)
}

// Webhook is one webhook (spec, Webhook).
type Webhook struct {
	ID                  id.Webhook       `json:"id" doc:"Id of the webhook, with the prefix wh_."`
	URL                 string           `json:"url" doc:"A public https address; checked again before every attempt."`
	Description         *string          `json:"description" doc:"What the webhook is for, for people; null for none."`
	Events              []string         `json:"events" doc:"Event types received, none where the list is empty; * stands for every type but those that must be named."`
	IncludeConversation bool             `json:"includeConversation" doc:"Whether conversation words are sent where the privacy rules allow."`
	Active              bool             `json:"active" doc:"False while switched off, and after three days of failed deliveries."`
	PausedAt            *time.Time       `json:"pausedAt" doc:"When it was paused after failing every delivery for three days."`
	APIVersion          contract.Version `json:"apiVersion" enum:"2026-07-08,2026-10-01" doc:"The contract its deliveries are written in."`
	CreatedAt           time.Time        `json:"createdAt" doc:"When the webhook was made, in UTC."`
	UpdatedAt           time.Time        `json:"updatedAt" doc:"When it was last changed, in UTC."`
	ManagedBy           string           `json:"managedBy" doc:"api, or what manages the webhook in its place: then it cannot be changed here."`
}

// WebhookWithSecret is the answer that shows a signing secret, once.
type WebhookWithSecret struct {
	Webhook
	Secret webhook.Secret `json:"secret" doc:"Signs the deliveries. It is never shown again."`
}

func show(w webhook.Webhook) Webhook {
	return Webhook{
		ID: w.ID, URL: w.URL, Description: w.Description, Events: w.Events, IncludeConversation: w.IncludeConversation,
		Active: w.Active, PausedAt: route.UTC(w.PausedAt), APIVersion: w.APIVersion, CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(),
		ManagedBy: w.ManagedBy.String(),
	}
}

// Path names a webhook.
type Path struct {
	ID string `path:"id" doc:"The webhook's id, with or without wh_."`
}

func (p Path) webhook() (id.Webhook, error) { return route.Lookup(id.ParseWebhook, p.ID, "webhook") }

// Query pages through the webhooks.
type Query struct{ route.Paging }

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Webhook], error) {
	return route.Listed(c, q.Paging, func(after id.Webhook, limit int) ([]webhook.Webhook, error) {
		return webhook.List(ctx, a.Tenants, c.Org(), after, limit)
	}, func(w webhook.Webhook) id.Webhook { return w.ID }, show)
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Webhook, error) {
	w, err := p.webhook()
	if err != nil {
		return Webhook{}, err
	}
	found, err := webhook.Get(ctx, a.Tenants, c.Org(), w)
	return show(found), err
}

// asProblem says what of a webhook cannot be as the body has it.
func asProblem(err error) error {
	var (
		unsendable *webhook.EventError
		badURL     *egress.InvalidURLError
		refused    *egress.RefusedError
	)
	switch {
	case errors.Is(err, webhook.ErrNeedsTranscripts):
		return problem.New(problem.Forbidden, "This key lacks the scope %s, which this needs of a webhook that receives conversation words.", scope.TranscriptsRead)
	case errors.Is(err, webhook.ErrZeroRetention):
		return problem.Conflicting("zero_retention", "The organization has zero data retention on, so no webhook can have includeConversation.")
	case errors.As(err, &unsendable):
		return asEventProblem(unsendable)
	case errors.As(err, &badURL), errors.As(err, &refused):
		return problem.Invalid("body.url", "The address cannot be used: %v.", err).WithCause(err)
	}
	return err
}
