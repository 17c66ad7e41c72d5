package organisation

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/directory"
)

// moving is how soon to look again at a move under way.
const moving = 2 * time.Second

// keepPlace has an organization live on the shard that the spec names. Workers move it;
// it is ready all the while.
func (r *Rules) keepPlace(ctx context.Context, o *v1alpha1.Organisation, found directory.Organization) error {
	m, err := r.Directory.MoveOf(ctx, found.ID)
	if err != nil && !errors.Is(err, directory.ErrUnknown) {
		return err
	}
	there := o.Spec.Shard == "" || o.Spec.Shard == found.Shard
	switch under := m.DueAt != nil && !move.Switched(m); {
	case under:
		if o.Spec.Shard != "" && m.To != o.Spec.Shard && !m.Cancelled {
			// The spec changed its mind.
			if err := r.Directory.CancelMove(ctx, found.ID); err != nil && !errors.Is(err, directory.ErrNotMoving) {
				return err
			}
		}
		return r.says(o, metav1.ConditionTrue, v1alpha1.ReasonMoving, describe(m), moving)
	case there:
		if meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Moving) == nil && m.To != found.Shard {
			return nil // it never moved
		}
		return r.says(o, metav1.ConditionFalse, v1alpha1.ReasonMoved, "It lives on "+found.Shard+".", 0)
	case m.Phase == directory.Refused && m.From == found.Shard && m.To == o.Spec.Shard && r.now().Before(m.PhaseAt.Add(again)):
		return r.says(o, metav1.ConditionFalse, v1alpha1.ReasonNotMoved, m.Problem, again)
	}
	return r.beginMove(ctx, o, found)
}

// beginMove asks for the move to the shard that the spec names.
func (r *Rules) beginMove(ctx context.Context, o *v1alpha1.Organisation, found directory.Organization) error {
	err := move.Begin(ctx, r.Directory, r.Tenants, found.ID, o.Spec.Shard, string(found.ManagedBy))
	refused, ok := errors.AsType[*move.Refusal](err)
	switch {
	case ok && refused.Reason == move.Moving:
		return r.says(o, metav1.ConditionTrue, v1alpha1.ReasonMoving, refused.Sentence, moving)
	case ok:
		return r.says(o, metav1.ConditionFalse, string(refused.Reason), refused.Sentence, again)
	case err != nil:
		return err
	}
	m, err := r.Directory.MoveOf(ctx, found.ID)
	if err != nil {
		return err
	}
	return r.says(o, metav1.ConditionTrue, v1alpha1.ReasonMoving, describe(m), moving)
}

// describe says what is being done. What a failure was is for the log.
func describe(m directory.Move) string {
	if m.Problem != "" && m.Phase != directory.Refused {
		return move.Describe(m) + " The last try failed and is repeated; the workers' log says why."
	}
	return move.Describe(m)
}

// says sets the condition Moving, and when to look at it again.
func (r *Rules) says(o *v1alpha1.Organisation, status metav1.ConditionStatus, reason, message string, after time.Duration) error {
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{
		Type: v1alpha1.Moving, Status: status, Reason: reason, Message: message,
		ObservedGeneration: o.Generation, LastTransitionTime: metav1.NewTime(r.Clock.Now()),
	})
	if after == 0 {
		return nil
	}
	return &resource.Soon{After: after}
}
