package webhook

import (
	"context"
	"errors"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// declare writes what the spec says, all of it in one transaction. before is the
// webhook as it was read; nil for one that is to be made or adopted.
func (r *Rules) declare(ctx context.Context, o *v1alpha1.Webhook, org id.Org, before *webhook.Declared) (*webhook.Declared, error) {
	// It asks name servers, so it comes before the transaction.
	if before == nil || before.URL != o.Spec.URL {
		if err := webhook.CheckURL(ctx, r.Guard, o.Spec.URL); err != nil {
			return before, refuse(o, err)
		}
	}
	after := before
	err := r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		d, err := webhook.LockDeclared(ctx, tx, resource.Managing(Kind, o))
		if err != nil {
			return err
		}
		if d == nil {
			d, err = r.adopt(ctx, tx, o)
		}
		if err != nil {
			return err
		}
		if after, err = r.write(ctx, tx, o, d); err != nil {
			after = before
		}
		return err
	}, tenant.Idempotent(true)) // A webhook that was made is found by who manages it.
	return after, refuse(o, err)
}

// adopt finds a webhook that the resource is to take over; nil for none. One that it
// had is its own again where the API manages it, and so is one that a resource of its
// name left, in a cluster that was lost or before its finalizer was taken off.
func (r *Rules) adopt(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Webhook) (*webhook.Declared, error) {
	for _, text := range []string{o.Status.ID, resource.Adopts(o)} {
		if text == "" {
			continue
		}
		which, err := id.ParseWebhook(text)
		if err != nil {
			return nil, resource.Invalid("%q is not the id of a webhook.", text)
		}
		w, err := webhook.Lock(ctx, tx, which)
		if errdefs.IsNotFound(err, webhook.Noun) && text != resource.Adopts(o) {
			continue
		}
		if errdefs.IsNotFound(err, webhook.Noun) {
			return nil, resource.Invalid("The organization has no webhook %s to adopt.", text)
		}
		if err != nil {
			return nil, err
		}
		return r.take(ctx, tx, o, w)
	}
	w, ok, err := webhook.LockLeft(ctx, tx, resource.Reference(Kind, o))
	if err != nil || !ok {
		return nil, err
	}
	return r.take(ctx, tx, o, w)
}

// take makes a webhook that is there the resource's.
func (r *Rules) take(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Webhook, w webhook.Webhook) (*webhook.Declared, error) {
	if err := resource.Claim(ctx, r.Client, Kind, o, &v1alpha1.Webhook{}, w.ManagedBy, true); err != nil {
		return nil, err
	}
	w.ManagedBy = resource.Managing(Kind, o)
	if err := webhook.Update(ctx, tx, w, webhook.Adopted, nil, r.actor(o)); err != nil {
		return nil, err
	}
	return webhook.LockDeclared(ctx, tx, w.ManagedBy)
}

// write makes the webhook as the spec has it, of one that is there or a new one.
func (r *Rules) write(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Webhook, d *webhook.Declared) (*webhook.Declared, error) {
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err != nil {
		return nil, err
	}
	terms, err := r.terms(ctx, tx.Org)
	if err != nil {
		return nil, err
	}
	if apart(o) && (d == nil || d.OwnLane == nil) && !terms.Has(dedicatedDelivery) {
		return nil, resource.Invalid("%s", r.Catalogue.FeatureMissing(terms, dedicatedDelivery).Message)
	}
	if d == nil {
		err = r.make(ctx, tx, o, zero, terms)
	} else {
		err = r.change(ctx, tx, o, d.Webhook, zero)
	}
	if err != nil {
		return nil, err
	}
	d, err = webhook.LockDeclared(ctx, tx, resource.Managing(Kind, o))
	if err != nil || apart(o) == (d.OwnLane != nil) {
		return d, err
	}
	d.OwnLane, err = delivery.DedicateWebhook(ctx, tx, d.ID, apart(o))
	return d, err
}

// make makes a new webhook.
func (r *Rules) make(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Webhook, zero bool, terms plan.Terms) error {
	now := r.now()
	blank := webhook.Webhook{ID: id.NewWebhook(), Active: true, CreatedAt: now, UpdatedAt: now, ManagedBy: resource.Managing(Kind, o)}
	w, changes, err := wanted(o, blank, zero)
	if err != nil {
		return err
	}
	full, err := webhook.Insert(ctx, tx, r.Vault, w, webhook.NewSecret(), terms, changes, r.actor(o))
	if full {
		return &resource.Refusal{Reason: v1alpha1.ReasonLimitReached, Message: r.Catalogue.LimitReached(terms, plan.Webhooks).Message}
	}
	return err
}

// change makes of a webhook that is there what the spec has.
func (r *Rules) change(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Webhook, before webhook.Webhook, zero bool) error {
	w, changes, err := wanted(o, before, zero)
	if err != nil || len(changes) == 0 {
		return err
	}
	w.UpdatedAt = r.now()
	return webhook.Update(ctx, tx, w, webhook.Updated, changes, r.actor(o))
}

// dedicatedDelivery is what a plan includes with which a webhook may have a worker of
// its own: that runs in the platform's namespace, and is paid for by whoever runs it.
const dedicatedDelivery = "dedicated_delivery"

func (r *Rules) terms(ctx context.Context, org id.Org) (plan.Terms, error) {
	organisation, err := r.Directory.Organization(ctx, org)
	return r.Catalogue.Terms(organisation.Plan, organisation.Overrides), err
}

// actor is the resource, as the activity log has it.
func (r *Rules) actor(o *v1alpha1.Webhook) activity.Actor {
	return activity.Actor{By: "operator", At: r.now(), Resource: resource.Managing(Kind, o).String()}
}

// differs says whether a webhook is not what the spec says.
func differs(o *v1alpha1.Webhook, d *webhook.Declared) bool {
	// What refuses the change is for the transaction to find.
	_, changes, err := wanted(o, d.Webhook, false)
	return err != nil || len(changes) > 0 || apart(o) != (d.OwnLane != nil)
}

// apart says whether its deliveries are to have a worker of their own.
func apart(o *v1alpha1.Webhook) bool { return o.Spec.Delivery == v1alpha1.DedicatedDelivery }

// wanted is a webhook as the spec has it, and what becomes different. Those who apply
// resources may do everything that a key may.
func wanted(o *v1alpha1.Webhook, w webhook.Webhook, zeroRetention bool) (webhook.Webhook, map[string]any, error) {
	s, in := &o.Spec, webhook.Circumstances{ReadsTranscripts: true, ZeroRetention: zeroRetention}
	var description *string
	if s.Description != "" {
		description = &s.Description
	}
	version := contract.Version(s.APIVersion)
	change := webhook.Change{
		URL: &s.URL, Description: &description, Events: &s.Events, IncludeConversation: &s.IncludeConversation, APIVersion: &version,
	}
	after, changes, err := w.Apply(change, in)
	if err != nil {
		return w, nil, err
	}
	active := !s.Suspended && (w.PausedAt == nil || len(changes) > 0 || asksToResume(o))
	change.Active = &active
	if after, changes, err = w.Apply(change, in); err != nil {
		return w, nil, err
	}
	if s.Suspended && after.PausedAt != nil {
		// It is off because the spec says so, and on again when the spec does.
		after.PausedAt = nil
		changes["pausedAt"] = nil
	}
	return after, changes, nil
}

// asksToResume says whether the annotation has a value that was not obeyed yet.
func asksToResume(o *v1alpha1.Webhook) bool {
	asked := o.Annotations[v1alpha1.ResumeAnnotation]
	return asked != "" && asked != o.Status.Resumed
}

// refuse says what the errors of a change are to those who read the resource.
func refuse(o *v1alpha1.Webhook, err error) error {
	var (
		unsendable *webhook.EventError
		badURL     *egress.InvalidURLError
		refused    *egress.RefusedError
	)
	switch {
	case errors.As(err, &unsendable) && unsendable.NeedsConversation:
		return resource.Invalid("The event %q is sent only with includeConversation: true.", o.Spec.Events[unsendable.Index])
	case errors.As(err, &unsendable):
		return resource.Invalid("%q is not a type of event; GET /v1/event-types lists them.", o.Spec.Events[unsendable.Index])
	case errors.As(err, &badURL), errors.As(err, &refused):
		return resource.Invalid("The url cannot be used: %v.", err)
	case errors.Is(err, webhook.ErrZeroRetention):
		return resource.Invalid("The organization has zero data retention on, so no webhook can have includeConversation.")
	}
	return err
}
