package resource

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"visavis.dev/operator/apis/v1alpha1"
)

// recordTransitions records an event, and counts, for each condition that came to another status or
// reason. One that is well from the first is no event: ten thousand resources that are
// made at once would be as many requests that say nothing.
func (r *Reconciler[T]) recordTransitions(before, o T) {
	for _, now := range o.State().Conditions {
		was := meta.FindStatusCondition(before.State().Conditions, now.Type)
		if was != nil && was.Status == now.Status && was.Reason == now.Reason {
			continue
		}
		r.Metrics.transition(r.Kind, now)
		if was == nil && now.Status != metav1.ConditionFalse {
			continue
		}
		kind := corev1.EventTypeNormal
		if now.Status != metav1.ConditionTrue && now.Reason != v1alpha1.ReasonMoved {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(o, nil, kind, now.Reason, "Reconcile", "%s is %s: %s", now.Type, now.Status, cmp.Or(now.Message, now.Reason))
	}
}
