package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/pershard"
)

const (
	// every is how often the shards are asked whose deliveries fail.
	every = 15 * time.Second
	// within is how long a shard has to answer.
	within = 5 * time.Second
	// overlap is how much of the time before is asked for again, since clocks differ.
	overlap = time.Minute
)

// watch finds the resources whose status does not tell how their deliveries fare, or by
// whose worker: one statement a shard, however many webhooks there are.
type watch struct {
	*Rules
	changed chan event.GenericEvent
	log     logr.Logger
	// shards is the list of them, which is in force while the directory does not answer.
	shards *pershard.List
	// asked is until when what was delivered first is known.
	asked time.Time
}

// Start is part of manager.Runnable.
func (w *watch) Start(ctx context.Context) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	w.asked = w.now()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		changed, err := w.look(ctx)
		if err != nil && ctx.Err() == nil {
			w.log.Error(err, "how deliveries fare is not known of every shard")
		}
		for _, o := range changed {
			select {
			case w.changed <- event.GenericEvent{Object: o}:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// look lists the resources to look at. Where a shard does not answer, nothing is said of
// those that no shard mentions.
func (w *watch) look(ctx context.Context) ([]client.Object, error) {
	began := w.now()
	conditions, unknown := w.conditions(ctx)
	if unknown == nil {
		w.asked = began
	}
	var list v1alpha1.WebhookList
	if err := w.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, errors.Join(unknown, err)
	}
	var changed []client.Object
	for i := range list.Items {
		o := &list.Items[i]
		if resource.Released(o) || !w.Served.Serve(o.Namespace) {
			continue
		}
		c, mentioned := conditions[resource.Managing(Kind, o)]
		if mentioned && w.differs(o, c) || !mentioned && unknown == nil && healthInStatus(&o.Status) != (deliveryHealth{}) {
			changed = append(changed, o)
		}
	}
	return changed, unknown
}

// conditions asks every shard that answers.
func (w *watch) conditions(ctx context.Context) (map[managed.By]webhook.Condition, error) {
	if w.shards == nil {
		w.shards = pershard.NewList(w.Directory.ShardNames, w.Clock)
	}
	shards, err := w.shards.Names(ctx)
	if err != nil {
		return nil, err
	}
	found := map[managed.By]webhook.Condition{}
	for _, a := range pershard.Gather(ctx, shards, within, func(ctx context.Context, shard string) ([]webhook.Condition, error) {
		return webhook.Conditions(ctx, w.Tenants, shard, w.asked.Add(-overlap))
	}) {
		if a.Err != nil {
			err = errors.Join(err, fmt.Errorf("shard %s: %w", a.Shard, a.Err))
		}
		for _, c := range a.Value {
			found[c.ManagedBy] = c
		}
	}
	return found, err
}

// differs says whether a status does not tell what its row says. One that never told of
// deliveries tells of the first.
func (w *watch) differs(o *v1alpha1.Webhook, c webhook.Condition) bool {
	f := healthOf(c.FailingSince, c.PausedAt, w.now())
	return !f.equal(healthInStatus(&o.Status)) || c.DeliveredAt != nil && untold(o) ||
		c.OwnLane != meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.Dedicated)
}

func untold(o *v1alpha1.Webhook) bool {
	for _, c := range o.Status.Conditions {
		if c.Type == v1alpha1.Delivering {
			return c.Reason == v1alpha1.ReasonNothingDelivered
		}
	}
	return false
}
