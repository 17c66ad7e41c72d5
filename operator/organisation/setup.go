package organisation

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/dedicated"
	"visavis.dev/operator/resource"
)

// Fields of the cache's index.
const (
	bySlug     = "slug"
	byAdopted  = "adopts"
	byDelivery = "delivery"
)

// SetupWithManager adds the kind to a manager.
func (r *Rules) SetupWithManager(mgr ctrl.Manager, m *resource.Metrics) error {
	for field, value := range Indexes {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.Organisation{}, field, value); err != nil {
			return err
		}
	}
	spec := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Organisation{}, builder.WithPredicates(spec)).
		// Its own writing of a Secret is no news, nor are those that were there before.
		Owns(&corev1.Secret{}, builder.WithPredicates(old)).
		Watches(&v1alpha1.Organisation{}, handler.EnqueueRequestsFromMapFunc(r.rivals), builder.WithPredicates(spec, gone)).
		Watches(&v1alpha1.Shard{}, handler.EnqueueRequestsFromMapFunc(r.waiting), builder.WithPredicates(registered)).
		Watches(&appsv1.Deployment{}, child.Owners(Kind), builder.WithPredicates(predicate.GenerationChangedPredicate{}, old)).
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(r.apart),
			builder.WithPredicates(predicate.GenerationChangedPredicate{}, predicate.NewPredicateFuncs(dedicated.Shared))).
		Complete(&resource.Reconciler[*v1alpha1.Organisation]{
			Kind: Kind, Rules: r, Client: r.Client, Recorder: mgr.GetEventRecorder("visavis-operator"), Metrics: m, Clock: r.Clock, Served: r.Served,
		})
}

// old passes no object that came to be.
var old = predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}

// apart are the organizations with workers of their own, which are to be like the
// shard's.
func (r *Rules) apart(ctx context.Context, _ client.Object) []reconcile.Request {
	var list v1alpha1.OrganisationList
	if err := r.Client.List(ctx, &list, client.MatchingFields{byDelivery: string(v1alpha1.DedicatedDelivery)}); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}

// Indexes are the fields that the cache finds Organisations by.
var Indexes = map[string]client.IndexerFunc{
	bySlug:     func(o client.Object) []string { return some(slug(o.(*v1alpha1.Organisation))) },
	byDelivery: func(o client.Object) []string { return some(string(o.(*v1alpha1.Organisation).Spec.Delivery)) },
	byAdopted: func(o client.Object) []string {
		return some(resource.Adopts(o))
	},
}

func some(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// unrivalled refuses a slug that an older resource claims, made or not.
func (r *Rules) unrivalled(ctx context.Context, o *v1alpha1.Organisation, slug string) error {
	var list v1alpha1.OrganisationList
	if err := r.Client.List(ctx, &list, client.MatchingFields{bySlug: slug}); err != nil {
		return err
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.UID != o.UID && r.Served.Serve(other.Namespace) && !resource.Released(other) && resource.Older(other, o) {
			return resource.Conflict("The slug %q is claimed by Organisation %s/%s, which is older.", slug, other.Namespace, other.Name)
		}
	}
	return nil
}

// rivals are those that want what a resource has that goes or gives up what it manages.
func (r *Rules) rivals(ctx context.Context, o client.Object) []reconcile.Request {
	has := o.(*v1alpha1.Organisation)
	return append(r.listed(ctx, client.MatchingFields{bySlug: slug(has)}), r.listed(ctx, client.MatchingFields{byAdopted: has.Status.ID})...)
}

// waiting are those that a shard may be for.
func (r *Rules) waiting(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.listed(ctx)
}

// listed are those of a list that are not ready. A list of the cache fails only before
// the manager has started; a look every ten minutes finds them too.
func (r *Rules) listed(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	var list v1alpha1.OrganisationList
	if err := r.Client.List(ctx, &list, options...); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if o := &list.Items[i]; !meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.Ready) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
		}
	}
	return requests
}

// gone passes resources that end or give up what they manage.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return !resource.Released(e.ObjectOld) && resource.Released(e.ObjectNew)
	},
}

// registered passes shards that become ready.
var registered = predicate.Funcs{
	DeleteFunc: func(event.DeleteEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.Shard), e.ObjectNew.(*v1alpha1.Shard)
		return !meta.IsStatusConditionTrue(was.Status.Conditions, v1alpha1.Ready) && meta.IsStatusConditionTrue(is.Status.Conditions, v1alpha1.Ready)
	},
}
