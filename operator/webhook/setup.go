package webhook

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/dedicated"
	"visavis.dev/operator/resource"
)

// Fields of the cache's index.
const (
	byOrganisation = "spec.organisation.name"
	byAdopted      = "adopts"
	byDelivery     = "spec.delivery"
)

// SetupWithManager adds the kind to a manager.
func (r *Rules) SetupWithManager(mgr ctrl.Manager, m *resource.Metrics) error {
	index := func(field string, value func(*v1alpha1.Webhook) string) error {
		return mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.Webhook{}, field, func(o client.Object) []string {
			if v := value(o.(*v1alpha1.Webhook)); v != "" {
				return []string{v}
			}
			return nil
		})
	}
	if err := index(byOrganisation, func(o *v1alpha1.Webhook) string { return o.Spec.Organisation.Name }); err != nil {
		return err
	}
	if err := index(byAdopted, func(o *v1alpha1.Webhook) string { return resource.Adopts(o) }); err != nil {
		return err
	}
	if err := index(byDelivery, func(o *v1alpha1.Webhook) string { return string(o.Spec.Delivery) }); err != nil {
		return err
	}
	w := &watch{Rules: r, changed: make(chan event.GenericEvent, 1024), log: mgr.GetLogger().WithName("webhook")}
	if err := mgr.Add(w); err != nil {
		return err
	}
	spec := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Webhook{}, builder.WithPredicates(spec)).
		// Its own writing of a Secret is no news, nor are those that were there before.
		Owns(&corev1.Secret{}, builder.WithPredicates(old)).
		Watches(&v1alpha1.Organisation{}, r.listed(byOrganisation, client.Object.GetName), builder.WithPredicates(placed)).
		Watches(&v1alpha1.Webhook{}, r.listed(byAdopted, resource.Adopts), builder.WithPredicates(spec, gone)).
		Watches(&appsv1.Deployment{}, child.Owners(Kind), builder.WithPredicates(predicate.GenerationChangedPredicate{}, old)).
		Watches(&appsv1.Deployment{}, r.everywhere(), builder.WithPredicates(predicate.GenerationChangedPredicate{}, predicate.NewPredicateFuncs(dedicated.Shared))).
		WatchesRawSource(source.Channel(w.changed, &handler.EnqueueRequestForObject{})).
		Complete(&resource.Reconciler[*v1alpha1.Webhook]{
			Kind: Kind, Rules: r, Client: r.Client, Recorder: mgr.GetEventRecorder("visavis-operator"), Metrics: m, Clock: r.Clock, Served: r.Served,
		})
}

// old passes no object that came to be.
var old = predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}

// everywhere maps the workers of a shard to the webhooks whose own are to be like them.
func (r *Rules) everywhere() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		return r.list(ctx, client.MatchingFields{byDelivery: string(v1alpha1.DedicatedDelivery)})
	})
}

// listed maps an object to the webhooks of its namespace that have its value in a field.
func (r *Rules) listed(field string, value func(client.Object) string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		of := value(o)
		if of == "" {
			return nil
		}
		return r.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{field: of})
	})
}

// list asks the cache, which has the fields; what it would miss is found by the next look.
func (r *Rules) list(ctx context.Context, which ...client.ListOption) []reconcile.Request {
	var found v1alpha1.WebhookList
	if err := r.Client.List(ctx, &found, append(which, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(found.Items))
	for i := range found.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&found.Items[i])
	}
	return requests
}

// placed passes organizations that came to be, moved, or went.
var placed = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.Organisation).Status, e.ObjectNew.(*v1alpha1.Organisation).Status
		return was.ID != is.ID || was.Shard != is.Shard
	},
}

// gone passes webhooks that end or give up what they manage.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return !resource.Released(e.ObjectOld) && resource.Released(e.ObjectNew)
	},
}
