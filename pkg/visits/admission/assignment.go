package admission

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// assign has a session belong to the assignment that is named, or else to the one that is open
// for the person. A sandbox belongs to none.
func (at *stage) assign(ctx context.Context, tx *tenant.Tx, s *session.Session, named id.Assignment) error {
	const param = "assignmentId"
	if s.Person.IsZero() || s.Subject.IsZero() || s.Sandbox {
		if named.IsZero() {
			return nil
		}
		return problem.Conflicting("not_assignable", "Only a session of a person and a subject that is no sandbox is part of an assignment.").WithParam(param)
	}
	a, p, err := assignment.Choose(ctx, tx, assignment.Wanted{Person: s.Person, Subject: s.Subject, Kind: s.Kind, Named: named}, s.CreatedAt)
	if errdefs.IsNotFound(err, assignment.Noun) {
		return problem.Missing("assignment").WithParam(param)
	}
	if refused, ok := errors.AsType[*errdefs.Conflict](err); ok {
		return problem.Conflicting(refused.Reason, "%s", refused.Message).WithParam(param)
	}
	if err != nil || a == nil {
		return err
	}
	at.assignment, at.part, s.Assignment = a, p, a.ID
	return nil
}
