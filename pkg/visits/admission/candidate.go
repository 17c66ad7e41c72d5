package admission

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// apply finds the candidate of a request, who may be interviewed now, and asks what their role
// does. Whoever changes or erases them meanwhile waits.
func (at *stage) apply(ctx context.Context, tx *tenant.Tx, r *Request, now time.Time) error {
	if err := r.Allow("hiring"); err != nil {
		return err
	}
	c, of, err := screening.Ready(ctx, tx, r.Candidate, now)
	if err != nil {
		return applyProblem(err)
	}
	if at.set, err = c.Questions(ctx, tx, &of, now); err != nil {
		return applyProblem(err)
	}
	if at.asked, err = at.set.Read(); err != nil {
		return err
	}
	at.candidate = &c
	r.Portal, r.Subject, r.Kind, r.Language, r.Sandbox = of.Portal, of.Subject, session.Screening, c.Language, c.Sandbox
	// Nothing of who they are is known to who asks.
	r.Collected, r.Metadata, r.ExternalID = map[string]string{}, nil, nil
	return nil
}

// applyProblem says what the errors of screening.Ready are to a caller.
func applyProblem(err error) error {
	if errdefs.IsAbsent(err, candidate.Noun) || errdefs.IsNotFound(err, role.Noun) {
		return problem.Missing("candidate")
	}
	if errdefs.IsNotFound(err, question.Noun) {
		return problem.Conflicting("not_published", "The role's subject is not published, or asks nothing.")
	}
	if c, ok := errors.AsType[*errdefs.Conflict](err); ok {
		return problem.Conflicting(c.Reason, "%s", c.Message)
	}
	return err
}
