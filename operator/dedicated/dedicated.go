// Package dedicated keeps the workers that deliver for one webhook, or for one
// organization's webhooks, alone.
package dedicated

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/child"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/managed"
)

// Flag is the worker's, with whom it delivers for, wh_… or org_….
const Flag = "--dedicated"

// Workers writes the Deployments.
type Workers struct {
	child.Writer
	// Namespace is the operator's own.
	Namespace string
}

// Apply has a worker run for a holder, wh_… or org_…, on a shard. Its pods are those of
// the shard's workers, so they are of another image only once the shard's database is
// migrated for it. Who has the holder's row has its worker: one that somebody had before
// goes. The error is a Refusal until that is gone, and while the shard has no workers.
func (w *Workers) Apply(ctx context.Context, owner client.Object, shard, holder string) error {
	var shared appsv1.Deployment
	err := w.Client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: shard + "-" + pods.Worker}, &shared)
	if apierrors.IsNotFound(err) {
		return resource.Pending(0, "The shard %s has no workers yet whose like could deliver for it alone.", shard)
	}
	if err != nil {
		return err
	}
	if err := w.inherit(ctx, owner, holder); err != nil {
		return err
	}
	wanted := deployment(&shared, holder)
	// An organization that moved left its worker on the other shard.
	return errors.Join(w.Writer.Apply(ctx, owner, wanted), w.remove(ctx, owner, holder, wanted.Name))
}

// inheritAgain is how soon to look whether somebody's worker is gone.
const inheritAgain = 2 * time.Second

// inherit ends a worker that another resource made for the holder.
func (w *Workers) inherit(ctx context.Context, owner client.Object, holder string) error {
	var found appsv1.DeploymentList
	if err := w.Client.List(ctx, &found, client.InNamespace(w.Namespace), client.MatchingLabels{pods.LaneLabel: holder}); err != nil {
		return err
	}
	for i := range found.Items {
		d := &found.Items[i]
		if w.Owns(owner, d) {
			continue
		}
		if err := w.Client.Delete(ctx, d, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return err
		}
		return resource.Pending(inheritAgain, "The worker that %s had for it ends.", managed.By(d.Annotations[child.OwnerAnnotation]))
	}
	return nil
}

// Delete ends the worker that a resource has for a holder, where there is one; all that
// it has, where the holder is empty: a resource that ended early does not know it.
func (w *Workers) Delete(ctx context.Context, owner client.Object, holder string) error {
	return w.remove(ctx, owner, holder, "")
}

func (w *Workers) remove(ctx context.Context, owner client.Object, holder, but string) error {
	lanes := client.ListOption(client.MatchingLabels{pods.LaneLabel: holder})
	if holder == "" {
		lanes = client.HasLabels{pods.LaneLabel}
	}
	var found appsv1.DeploymentList
	if err := w.Client.List(ctx, &found, client.InNamespace(w.Namespace), lanes); err != nil {
		return err
	}
	for i := range found.Items {
		if d := &found.Items[i]; d.Name != but {
			if err := w.Remove(ctx, owner, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// deployment is like the shard's of its workers, with one pod: another would stand by.
func deployment(shared *appsv1.Deployment, holder string) *appsv1.Deployment {
	sum := sha256.Sum256([]byte(holder))
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: shared.Namespace, Name: shared.Name + "-" + hex.EncodeToString(sum[:5]), Labels: maps.Clone(shared.Labels),
	}}
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	d.Labels[pods.LaneLabel] = holder
	t := *shared.Spec.Template.DeepCopy()
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	t.Labels[pods.LaneLabel] = holder
	container := &t.Spec.Containers[0]
	container.Args = append(slices.Clone(container.Args), Flag, holder)
	selector := map[string]string{pods.LaneLabel: holder}
	if shared.Spec.Selector != nil {
		maps.Copy(selector, shared.Spec.Selector.MatchLabels)
		selector[pods.LaneLabel] = holder
	}
	d.Spec = appsv1.DeploymentSpec{
		Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: t,
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1)),
		}},
	}
	return d
}

// Shared says whether an object is the Deployment of a shard's workers, which those of
// the dedicated follow.
func Shared(o client.Object) bool {
	l := o.GetLabels()
	holder := l[pods.LaneLabel]
	return l[pods.ComponentLabel] == pods.Worker && (holder == "" || holder == "shared")
}
