package shard

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
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
	"visavis.dev/operator/resource"
)

// readAgain is how often the Secret with the URL of a shard's database is read: nobody
// tells of what becomes of a Secret that the operator did not make.
const readAgain = time.Minute

// SetupWithManager has a manager bring Shards about and scale what serves them.
func (r *Rules) SetupWithManager(mgr ctrl.Manager, m *resource.Metrics, log *slog.Logger, registry prometheus.Registerer) error {
	r.Client, r.Reader = mgr.GetClient(), mgr.GetAPIReader()
	wake := make(chan event.GenericEvent, 64)
	scaler := NewScaler(r, log, registry)
	scaler.Wake = wake
	if err := mgr.Add(scaler); err != nil {
		return err
	}
	own := child.Owners(kind)
	return ctrl.NewControllerManagedBy(mgr).Named("shard").
		// Its status is the operator's own: a change there is no news.
		For(&v1alpha1.Shard{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&v1alpha1.Shard{}, handler.EnqueueRequestsFromMapFunc(r.losers), builder.WithPredicates(gone)).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.everyone)).
		Watches(&appsv1.Deployment{}, own).
		Watches(&batchv1.Job{}, own).
		Watches(&corev1.Service{}, own).
		Watches(&networkingv1.NetworkPolicy{}, own).
		Watches(&policyv1.PodDisruptionBudget{}, own).
		WatchesRawSource(source.Channel(wake, &handler.EnqueueRequestForObject{})).
		Complete(&resource.Reconciler[*v1alpha1.Shard]{
			Kind: kind, Rules: r, Client: r.Client, Recorder: mgr.GetEventRecorder(child.Manager), Metrics: m, Clock: r.Clock,
			Resync: readAgain,
		})
}

// gone lets by what is gone, or claims nothing any more.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return resource.Released(e.ObjectNew) && !resource.Released(e.ObjectOld) ||
			e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration()
	},
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// losers are the Shards that lost what they claim to another: it may be free now.
func (r *Rules) losers(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.those(ctx, func(s *v1alpha1.Shard) bool {
		ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.Ready)
		return ready != nil && ready.Reason == v1alpha1.ReasonConflict
	})
}

// everyone are all Shards: the templates of their pods changed.
func (r *Rules) everyone(ctx context.Context, o client.Object) []reconcile.Request {
	if o.GetNamespace() != r.Namespace || o.GetName() != r.PodConfig {
		return nil
	}
	return r.those(ctx, func(*v1alpha1.Shard) bool { return true })
}

func (r *Rules) those(ctx context.Context, which func(*v1alpha1.Shard) bool) []reconcile.Request {
	var all v1alpha1.ShardList
	if err := r.Client.List(ctx, &all); err != nil {
		return nil // the cache is not filled yet; whatever it holds then is looked at
	}
	var found []reconcile.Request
	for i := range all.Items {
		if which(&all.Items[i]) {
			found = append(found, reconcile.Request{NamespacedName: types.NamespacedName{Name: all.Items[i].Name}})
		}
	}
	return found
}
