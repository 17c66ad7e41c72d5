// Package webhook brings Webhook resources about: the webhook of an organization on its
// shard, the Secret with what signs its deliveries, and the worker of its own where it
// has one. How its deliveries fare is read from a list per shard (watch.go), never
// webhook by webhook.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Kind is the kind of resource.
const Kind = "Webhook"

// Rules are those of the kind.
type Rules struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Vault     *vault.Vault
	Guard     *egress.Guard
	Catalogue *plan.Catalogue
	// Served are the namespaces whose Webhooks are brought about.
	Served resource.Namespaces
	// Client reads from the cache, which has the Secrets that the operator made;
	// Reader asks the API server.
	Client client.Client
	Reader client.Reader
	Clock  clock.PassiveClock
	// Workers run deliveries of their own.
	Workers Workers
}

// Workers keeps the workers that deliver for one webhook alone (package dedicated).
type Workers interface {
	// Apply has a worker run on a shard for a holder, wh_….
	Apply(ctx context.Context, owner client.Object, shard, holder string) error
	// Delete ends the worker, where there is one.
	Delete(ctx context.Context, owner client.Object, holder string) error
}

var _ resource.Rules[*v1alpha1.Webhook] = (*Rules)(nil)

func (r *Rules) now() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// Apply makes the webhook what the resource says.
func (r *Rules) Apply(ctx context.Context, o *v1alpha1.Webhook) error {
	org, organisation, err := resource.Home(ctx, r.Client, o.Namespace, o.Spec.Organisation.Name)
	if err != nil {
		return err
	}
	if err := r.stay(ctx, o, org); err != nil {
		return err
	}
	o.Status.OrganisationID = org.String()
	found, err := webhook.FindDeclared(ctx, r.Tenants, org, resource.Managing(Kind, o))
	if err != nil {
		return homeless(err, o)
	}
	if found == nil || differs(o, found) {
		if found, err = r.declare(ctx, o, org, found); err != nil {
			// What there is goes on, and how it fares is told all the same.
			if found != nil {
				r.setDeliveringCondition(o, found)
			}
			return homeless(err, o)
		}
	}
	o.Status.ID, o.Status.Resumed = found.ID.String(), o.Annotations[v1alpha1.ResumeAnnotation]
	r.setDeliveringCondition(o, found)
	if err := r.keepSecret(ctx, o, org, found); err != nil {
		return err
	}
	return r.keepWorker(ctx, o, organisation.Status.Shard, found)
}

// stay keeps a webhook with its organization.
func (r *Rules) stay(ctx context.Context, o *v1alpha1.Webhook, org id.Org) error {
	if o.Status.ID == "" {
		return nil
	}
	anew, err := resource.Rehomed(ctx, r.Directory, o.Status.OrganisationID, org, o.Spec.Organisation.Name)
	if anew {
		o.Status.ID = ""
	}
	return err
}

// Delete deletes the webhook.
func (r *Rules) Delete(ctx context.Context, o *v1alpha1.Webhook) error {
	if err := r.end(ctx, o, func(ctx context.Context, tx *tenant.Tx, d *webhook.Declared) error {
		return webhook.Delete(ctx, tx, d.ID, d.ManagedBy, r.actor(o))
	}); err != nil {
		return err
	}
	return r.endWorker(ctx, o)
}

// Release leaves the webhook, and the Secret, to those who call the API. Its deliveries
// are the shard's workers' from then on.
func (r *Rules) Release(ctx context.Context, o *v1alpha1.Webhook) error {
	left := true
	if err := r.end(ctx, o, func(ctx context.Context, tx *tenant.Tx, d *webhook.Declared) (err error) {
		if d.OwnLane != nil {
			_, err = delivery.DedicateWebhook(ctx, tx, d.ID, false)
		}
		left = !inOwnLane(d)
		return err
	}); err != nil {
		return err
	}
	if !left {
		return resource.Pending(emptying, leaving)
	}
	if err := errors.Join(r.endWorker(ctx, o), r.releaseSecret(ctx, o)); err != nil {
		return err
	}
	return r.end(ctx, o, func(ctx context.Context, tx *tenant.Tx, d *webhook.Declared) error {
		d.ManagedBy = managed.API
		return webhook.Update(ctx, tx, d.Webhook, webhook.Released, nil, r.actor(o))
	})
}

// end does with what the resource manages what ends that. Nothing is left to do where
// it manages nothing, or its organization is gone.
func (r *Rules) end(ctx context.Context, o *v1alpha1.Webhook,
	with func(context.Context, *tenant.Tx, *webhook.Declared) error,
) error {
	org, err := id.ParseOrg(o.Status.OrganisationID)
	if err != nil {
		org, _, err = resource.Home(ctx, r.Client, o.Namespace, o.Spec.Organisation.Name)
		if _, ok := errors.AsType[*resource.Refusal](err); ok {
			return nil
		}
		if err != nil {
			return err
		}
	}
	err = r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		d, err := webhook.LockDeclared(ctx, tx, resource.Managing(Kind, o))
		if err != nil || d == nil {
			return err
		}
		return with(ctx, tx, d)
	}, tenant.Idempotent(true))
	if errors.Is(err, directory.ErrUnknown) {
		return nil
	}
	return err
}

// homeless says of an organization that the directory does not have that it is waited for.
func homeless(err error, o *v1alpha1.Webhook) error {
	if errors.Is(err, directory.ErrUnknown) {
		return resource.Pending(time.Minute, "The Organisation %s is not there any more.", o.Spec.Organisation.Name)
	}
	return err
}

// secretName is the name of the Secret that a resource asks for.
func secretName(o *v1alpha1.Webhook) string { return cmp.Or(o.Spec.SecretName, o.Name+"-signing") }
