package resource

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"visavis.dev/operator/apis/v1alpha1"
)

// resync is about how often a resource is looked at when nothing told of a change:
// rows can be changed by hand.
const resync = 10 * time.Minute

// resyncJitter spreads the resources over time: those made together would otherwise be
// looked at together.
const resyncJitter = 0.4

// Reconciler reconciles the resources of one kind by its rules.
type Reconciler[T Object] struct {
	Kind     string
	Rules    Rules[T]
	Client   client.Client
	Recorder events.EventRecorder
	Metrics  *Metrics
	Clock    clock.PassiveClock
	// Resync is about how often a resource is looked at when nothing told of a change;
	// zero means ten minutes.
	Resync time.Duration
	// Served are the namespaces whose resources are brought about.
	Served Namespaces
}

// Reconcile brings one resource about.
func (r *Reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.Metrics.forget(r.Kind, req.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	before := o.DeepCopyObject().(T)
	switch {
	case !r.Served.Serve(o.GetNamespace()):
		return r.updateStatus(ctx, before, o, notServed(o))
	case !o.GetDeletionTimestamp().IsZero():
		return r.remove(ctx, before, o)
	case Released(o):
		return r.release(ctx, before, o)
	}
	if err := r.ensureFinalizer(ctx, o); err != nil {
		return reconcile.Result{}, err
	}
	return r.updateStatus(ctx, before, o, r.Rules.Apply(ctx, o))
}

// ensureFinalizer keeps the resource from being removed before what it manages is.
func (r *Reconciler[T]) ensureFinalizer(ctx context.Context, o T) error {
	bare := o.DeepCopyObject().(T)
	if !controllerutil.AddFinalizer(o, v1alpha1.Finalizer) {
		return nil
	}
	return r.Client.Patch(ctx, o, client.MergeFromWithOptions(bare, client.MergeFromWithOptimisticLock{}))
}

// removeFinalizer lets the API server remove the resource.
func (r *Reconciler[T]) removeFinalizer(ctx context.Context, o T) error {
	bare := o.DeepCopyObject().(T)
	if !controllerutil.RemoveFinalizer(o, v1alpha1.Finalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.Client.Patch(ctx, o, client.MergeFromWithOptions(bare, client.MergeFromWithOptimisticLock{})))
}

// remove does what the deletion of the resource asks for.
func (r *Reconciler[T]) remove(ctx context.Context, before, o T) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer) {
		return reconcile.Result{}, nil
	}
	end := r.Rules.Delete
	if o.Deletion() == v1alpha1.OrphanPolicy || Released(o) {
		end = r.Rules.Release
	}
	if err := end(ctx, o); err != nil {
		if refusal := asRefusal(err); refusal != nil {
			refusal.Reason = v1alpha1.ReasonDeleting
		}
		return r.updateStatus(ctx, before, o, err)
	}
	return reconcile.Result{}, r.removeFinalizer(ctx, o)
}

// release gives back what the resource manages.
func (r *Reconciler[T]) release(ctx context.Context, before, o T) (reconcile.Result, error) {
	err := r.Rules.Release(ctx, o)
	if err == nil {
		if err = r.removeFinalizer(ctx, o); err == nil {
			err = &Refusal{Reason: v1alpha1.ReasonReleased, Message: "What it managed is managed through the API."}
		}
	}
	return r.updateStatus(ctx, before, o, err)
}

// updateStatus writes what became of a resource into its status, where that changed, and
// answers when to reconcile again.
func (r *Reconciler[T]) updateStatus(ctx context.Context, before, o T, err error) (reconcile.Result, error) {
	ready, again := r.readyCondition(o, err)
	state := o.State()
	state.ObservedGeneration = o.GetGeneration()
	meta.SetStatusCondition(&state.Conditions, ready)
	for i := range state.Conditions {
		state.Conditions[i].ObservedGeneration = state.ObservedGeneration
	}
	// Equal resources but for what the writes until now changed of their metadata.
	was := before.DeepCopyObject().(T)
	was.SetResourceVersion(o.GetResourceVersion())
	was.SetFinalizers(o.GetFinalizers())
	was.SetManagedFields(o.GetManagedFields())
	if !equality.Semantic.DeepEqual(was, o) {
		if wrote := r.Client.Status().Patch(ctx, o, client.MergeFrom(was)); wrote != nil {
			return reconcile.Result{}, client.IgnoreNotFound(wrote)
		}
		r.recordTransitions(before, o)
	}
	r.Metrics.ready(r.Kind, o)
	if _, soon := errors.AsType[*Soon](err); err != nil && asRefusal(err) == nil && !soon {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// readyCondition is the condition Ready that follows from an error. What a database or the API
// server says of a failure is for the log: it changes from try to try, and may tell
// what is nobody's business.
func (r *Reconciler[T]) readyCondition(o T, err error) (ready metav1.Condition, again time.Duration) {
	ready = metav1.Condition{Type: v1alpha1.Ready, ObservedGeneration: o.GetGeneration(), LastTransitionTime: metav1.NewTime(r.Clock.Now())}
	again = wait.Jitter(cmp.Or(r.Resync, resync), resyncJitter)
	soon, ok := errors.AsType[*Soon](err)
	switch refusal := asRefusal(err); {
	case ok:
		ready.Status, ready.Reason, again = metav1.ConditionTrue, v1alpha1.ReasonReady, soon.After
	case err == nil:
		ready.Status, ready.Reason = metav1.ConditionTrue, v1alpha1.ReasonReady
	case refusal != nil:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, refusal.Reason, refusal.Message
		if refusal.After > 0 {
			again = refusal.After
		}
	default:
		ready.Status, ready.Reason = metav1.ConditionUnknown, v1alpha1.ReasonUnavailable
		ready.Message = "The last try failed and is repeated; the operator's log says why."
	}
	return ready, again
}
