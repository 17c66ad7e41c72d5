package webhook

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/eventing/webhook"
)

// patience is how long deliveries fail before a resource says so. The first retry is a
// minute after the first attempt, and what that mends is nobody's concern.
const patience = 2 * time.Minute

// deliveryHealth is how deliveries go, as a status tells it.
type deliveryHealth struct{ failingSince, pausedAt *time.Time }

// healthOf reads what a webhook's row says. Times are told to the second.
func healthOf(failingSince, pausedAt *time.Time, now time.Time) deliveryHealth {
	if failingSince != nil && pausedAt == nil && now.Sub(*failingSince) < patience {
		failingSince = nil
	}
	return deliveryHealth{seconds(failingSince), seconds(pausedAt)}
}

func seconds(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC().Truncate(time.Second))
}

// healthInStatus reads what a status says of them.
func healthInStatus(s *v1alpha1.WebhookStatus) deliveryHealth {
	var f deliveryHealth
	if s.FailingSince != nil {
		f.failingSince = seconds(&s.FailingSince.Time)
	}
	if s.PausedAt != nil {
		f.pausedAt = seconds(&s.PausedAt.Time)
	}
	return f
}

func (f deliveryHealth) equal(g deliveryHealth) bool {
	same := func(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
	return same(f.failingSince, g.failingSince) && same(f.pausedAt, g.pausedAt)
}

// setDeliveringCondition writes how deliveries go into the status.
func (r *Rules) setDeliveringCondition(o *v1alpha1.Webhook, d *webhook.Declared) {
	f := healthOf(d.FailingSince, d.PausedAt, r.now())
	o.Status.FailingSince, o.Status.PausedAt = moment(f.failingSince), moment(f.pausedAt)
	c := metav1.Condition{Type: v1alpha1.Delivering, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(r.now())}
	switch {
	case d.PausedAt != nil:
		c.Reason = v1alpha1.ReasonPaused
		c.Message = "It was paused at " + written(f.pausedAt) + ". Change what it is sent, or the annotation " +
			v1alpha1.ResumeAnnotation + ", to resume it."
		if f.failingSince != nil {
			c.Message = "Every delivery has failed since " + written(f.failingSince) + ". " + c.Message
		}
	case !d.Active:
		c.Reason, c.Message = v1alpha1.ReasonSuspended, "Nothing is sent since the spec says suspended."
	case f.failingSince != nil:
		c.Reason, c.Message = v1alpha1.ReasonFailing, "Every delivery has failed since "+written(f.failingSince)+"."
	case d.DeliveredAt != nil:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonDelivering
	default:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNothingDelivered
	}
	meta.SetStatusCondition(&o.Status.Conditions, c)
	r.setDedicatedCondition(o, d)
}

// setDedicatedCondition writes whether a worker of its own delivers, where it has or is to have one.
func (r *Rules) setDedicatedCondition(o *v1alpha1.Webhook, d *webhook.Declared) {
	c := metav1.Condition{Type: v1alpha1.Dedicated, LastTransitionTime: metav1.NewTime(r.now())}
	switch {
	case inOwnLane(d):
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.ReasonOwnWorker, "A worker of its own delivers."
	case d.OwnLane != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, v1alpha1.ReasonSharedWorkers, "The shard's workers deliver until its own is there."
	default:
		meta.RemoveStatusCondition(&o.Status.Conditions, v1alpha1.Dedicated)
		return
	}
	meta.SetStatusCondition(&o.Status.Conditions, c)
}

func moment(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return new(metav1.NewTime(*t))
}

func written(t *time.Time) string { return t.Format(time.RFC3339) }
