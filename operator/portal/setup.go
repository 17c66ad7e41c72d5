package portal

import (
	"context"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
)

// Fields of the cache's index.
const (
	byOrganisation = "spec.organisation.name"
	bySlug         = "spec.slug"
	byHost         = "spec.host"
	byAdopted      = "adopts"
)

// Indexes are the fields that the cache finds Portals by.
var Indexes = map[string]client.IndexerFunc{
	byOrganisation: func(o client.Object) []string { return list(o.(*v1alpha1.Portal).Spec.Organisation.Name) },
	bySlug:         func(o client.Object) []string { return list(o.(*v1alpha1.Portal).Spec.Slug) },
	byHost:         func(o client.Object) []string { return list(o.(*v1alpha1.Portal).Spec.Host) },
	byAdopted:      func(o client.Object) []string { return list(resource.Adopts(o)) },
}

func list(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// SetupWithManager adds the kind to a manager.
func (r *Rules) SetupWithManager(mgr ctrl.Manager, m *resource.Metrics) error {
	for field, value := range Indexes {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.Portal{}, field, value); err != nil {
			return err
		}
	}
	spec := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Portal{}, builder.WithPredicates(spec)).
		Watches(&v1alpha1.Organisation{}, handler.EnqueueRequestsFromMapFunc(r.ofOrganisation), builder.WithPredicates(placed)).
		Watches(&v1alpha1.Portal{}, handler.EnqueueRequestsFromMapFunc(r.rivals), builder.WithPredicates(spec, gone)).
		// Its own writing of an Ingress is no news, nor are those that were there before.
		Watches(&networkingv1.Ingress{}, handler.EnqueueRequestsFromMapFunc(ofIngress),
			builder.WithPredicates(predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}, predicate.ResourceVersionChangedPredicate{})).
		Complete(&resource.Reconciler[*v1alpha1.Portal]{
			Kind: Kind, Rules: r, Client: r.Client, Recorder: mgr.GetEventRecorder("visavis-operator"), Metrics: m, Clock: r.Clock, Served: r.Served,
		})
}

// ofOrganisation are the portals of an organization.
func (r *Rules) ofOrganisation(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, false, client.InNamespace(o.GetNamespace()), client.MatchingFields{byOrganisation: o.GetName()})
}

// rivals are the resources that want what one has that goes, gives up what it manages,
// or asks for something else.
func (r *Rules) rivals(ctx context.Context, o client.Object) []reconcile.Request {
	has := o.(*v1alpha1.Portal)
	return append(append(
		r.requests(ctx, true, client.MatchingFields{bySlug: has.Spec.Slug}),
		r.requests(ctx, true, client.MatchingFields{byHost: has.Spec.Host})...),
		r.requests(ctx, true, client.MatchingFields{byAdopted: has.Status.ID})...)
}

// requests are those of a list, or of them those that are not ready. A list of the
// cache fails only before the manager has started; a look every ten minutes finds them
// too.
func (r *Rules) requests(ctx context.Context, waiting bool, options ...client.ListOption) []reconcile.Request {
	var found v1alpha1.PortalList
	if err := r.Client.List(ctx, &found, options...); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range found.Items {
		if o := &found.Items[i]; !waiting || !meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.Ready) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
		}
	}
	return requests
}

// ofIngress is the Portal that an Ingress is of.
func ofIngress(_ context.Context, o client.Object) []reconcile.Request {
	namespace, name, ok := strings.Cut(o.GetAnnotations()[portalAnnotation], "/")
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

// placed passes organizations that came to be, moved, got another plan, or went.
var placed = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.Organisation), e.ObjectNew.(*v1alpha1.Organisation)
		return was.Status.ID != is.Status.ID || was.Status.Shard != is.Status.Shard || was.Status.ObservedGeneration != is.Status.ObservedGeneration
	},
}

// gone passes resources that end, give up what they manage, or ask for another address.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.Portal), e.ObjectNew.(*v1alpha1.Portal)
		return !resource.Released(was) && resource.Released(is) || was.Spec.Slug != is.Spec.Slug || was.Spec.Host != is.Spec.Host
	},
}
