package admission

import (
	"context"
	"time"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/store/tenant"
)

// prepared refuses a session of a subject before which its person has others to complete. Who is
// unknown has nothing that could be looked up, and a sandbox leaves nothing behind.
func (at *stage) prepared(ctx context.Context, tx *tenant.Tx, r *Request, now time.Time) error {
	if at.subject == nil || r.Person.IsZero() || r.Sandbox {
		return nil
	}
	unmet, err := record.Unmet(ctx, tx, r.Person, at.subject.Definition.Prerequisites, now)
	if err != nil || len(unmet) == 0 {
		return err
	}
	return problem.Conflicting("prerequisites_missing", "The person has other subjects to complete before this one.").
		WithParam("subjectId").WithDetail("subjectIds", unmet)
}
