package organisation

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Workers keeps the workers that deliver for one organization alone (package dedicated).
type Workers interface {
	// Apply has a worker run on a shard for a holder, org_….
	Apply(ctx context.Context, owner client.Object, shard, holder string) error
	// Delete ends the worker, where there is one.
	Delete(ctx context.Context, owner client.Object, holder string) error
}

// emptying is how soon to look again whether a lane was left.
const emptying = 5 * time.Second

// keepWorker has a worker of its own deliver for an organization that asks for one. The
// worker ends only once it gave back every webhook, with nothing under way.
func (r *Rules) keepWorker(ctx context.Context, o *v1alpha1.Organisation, found directory.Organization) error {
	wanted := o.Spec.Delivery == v1alpha1.DedicatedDelivery
	has, err := delivery.Dedicated(ctx, r.Tenants, found.ID)
	if err != nil {
		return err
	}
	if has != wanted {
		if err := r.dedicate(ctx, found.ID, wanted); err != nil {
			return err
		}
	}
	if wanted {
		return r.Workers.Apply(ctx, o, found.Shard, found.ID.String())
	}
	left, err := delivery.Left(ctx, r.Tenants, found.ID)
	if err != nil {
		return err
	}
	if !left {
		return resource.Pending(emptying, "Its deliveries go back to the shard's workers.")
	}
	return r.Workers.Delete(ctx, o, found.ID.String())
}

// dedicate gives an organization a lane of its own, or takes it back.
func (r *Rules) dedicate(ctx context.Context, org id.Org, own bool) error {
	return r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		return delivery.DedicateOrganization(ctx, tx, own)
	}, tenant.Idempotent(true))
}

// endWorker gives an organization that the resource gives up back to the shard's workers,
// who take it over from a worker that ended.
func (r *Rules) endWorker(ctx context.Context, o *v1alpha1.Organisation, org id.Org) error {
	has, err := delivery.Dedicated(ctx, r.Tenants, org)
	if err == nil && has {
		err = r.dedicate(ctx, org, false)
	}
	if err != nil {
		return err
	}
	return r.Workers.Delete(ctx, o, org.String())
}
