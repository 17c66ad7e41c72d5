package webhook

import (
	"context"
	"time"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
)

// emptying is how soon to look again whether a lane was left.
const emptying = 5 * time.Second

const leaving = "Its deliveries go back to the shard's workers."

// keepWorker has a worker of its own deliver for a webhook that has a lane of its own.
// The worker ends only once the lane was left: it takes the webhook back to the shared
// lanes itself, with nothing under way.
func (r *Rules) keepWorker(ctx context.Context, o *v1alpha1.Webhook, shard string, d *webhook.Declared) error {
	switch {
	case d.OwnLane != nil:
		return r.Workers.Apply(ctx, o, shard, d.ID.String())
	case inOwnLane(d):
		return resource.Pending(emptying, leaving)
	}
	return r.endWorker(ctx, o)
}

func (r *Rules) endWorker(ctx context.Context, o *v1alpha1.Webhook) error {
	return r.Workers.Delete(ctx, o, o.Status.ID)
}

func inOwnLane(d *webhook.Declared) bool {
	return d.Lane != nil && *d.Lane == delivery.WebhookLane(d.ID)
}
