package assignment

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// AttemptGrant is further attempts that somebody was given.
type AttemptGrant struct {
	ID         id.AttemptGrant
	Assignment id.Assignment
	Person     id.Person
	Subject    id.Subject
	Extra      int64
	Reason     *string
	GrantedBy  string
	CreatedAt  time.Time
}

// holds finds an assignment and somebody's part of it, which nobody else changes until the
// commit. The error is errdefs.NotFound of the assignment, errdefs.NotFound or errdefs.Gone of
// the person, or a conflict (ReasonArchived, ReasonNotAssigned).
func holds(ctx context.Context, tx *tenant.Tx, which id.Assignment, who id.Person, now time.Time) (Assignment, *Progress, error) {
	a, err := find(ctx, tx, which)
	if err != nil {
		return a, nil, err
	}
	if a.ArchivedAt != nil {
		return a, nil, a.conflict(ReasonArchived, "The assignment is archived.")
	}
	if err := person.Keep(ctx, tx, id.Portal{}, who); err != nil {
		return a, nil, err
	}
	if _, err := person.Find(ctx, tx, who); err != nil {
		return a, nil, err
	}
	p, err := a.part(ctx, tx, who, now)
	if err == nil && p == nil {
		err = a.conflict(ReasonNotAssigned, "The assignment is not for this person.")
	}
	return a, p, err
}

// Hold is somebody's part of an assignment, which nobody else changes until the commit. The errors are those of holds.
func Hold(ctx context.Context, tx *tenant.Tx, which id.Assignment, who id.Person, now time.Time) (Part, error) {
	a, p, err := holds(ctx, tx, which, who, now)
	if err != nil {
		return Part{}, err
	}
	return Part{Assignment: a, Progress: *p}, nil
}

// Grant gives somebody further attempts. Besides the errors of holds, it can be a conflict
// (ReasonUnlimited) where attempts are not counted.
func Grant(ctx context.Context, tx *tenant.Tx, g AttemptGrant, who activity.Actor) (AttemptGrant, error) {
	a, p, err := holds(ctx, tx, g.Assignment, g.Person, who.At)
	if err != nil {
		return g, err
	}
	of, err := a.attempts(ctx, tx)
	if err != nil {
		return g, err
	}
	if of == nil {
		return g, a.conflict(ReasonUnlimited, "The assignment allows any number of attempts.")
	}
	after := *p
	after.Extra += g.Extra
	if err := p.save(ctx, tx, after, who.At); err != nil {
		return g, err
	}
	g.ID, g.Subject, g.GrantedBy, g.CreatedAt = id.NewAttemptGrant(), a.Subject, who.By, who.At
	tx.Touch("attempt_grant", g.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO attempt_grant (org_id, id, assignment_id, person_id, subject_id, extra_attempts, reason, granted_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		tx.Org, g.ID, g.Assignment, g.Person, g.Subject, g.Extra, g.Reason, g.GrantedBy, g.CreatedAt); err != nil {
		return g, err
	}
	fields := a.fields(after)
	fields["grantId"], fields["extraAttempts"], fields["attemptsAllowed"] = g.ID.String(), g.Extra, *after.Allowed(of)
	fields["grantedBy"], fields["grantedAt"] = who.By, who.At.UTC()
	event.Emit(tx, event.Draft{Type: event.AttemptGranted, At: who.At, Fields: fields, Subject: a.Subject})
	who.Log(tx, "attempt.granted", "assignment", a.ID, map[string]any{"personId": g.Person, "extraAttempts": g.Extra})
	return g, nil
}

// attempts are how many everybody has; nil for any number, and where they are not counted.
func (a *Assignment) attempts(ctx context.Context, tx *tenant.Tx) (*int64, error) {
	if a.Kind != Assess || a.AttemptsAllowed != nil {
		return a.AttemptsAllowed, nil
	}
	s, err := subject.Find(ctx, tx, a.Subject)
	if errdefs.IsNotFound(err, subject.Noun) {
		return nil, nil
	}
	return s.Definition.AttemptsAllowed, err
}

// Excuse excuses somebody from an assignment, for a reason, or with false ends that. The errors
// are those of holds.
func Excuse(ctx context.Context, tx *tenant.Tx, which id.Assignment, whom id.Person, on bool, reason *string, who activity.Actor) (Progress, error) {
	a, p, err := holds(ctx, tx, which, whom, who.At)
	if err != nil {
		return Progress{}, err
	}
	after := *p
	after.ExcusedAt, after.ExcuseReason = nil, nil
	if on {
		after.ExcusedAt, after.ExcuseReason = &who.At, reason
		if p.ExcusedAt != nil {
			after.ExcusedAt = p.ExcusedAt
		}
	}
	after.stand(&a, who.At)
	if err := p.save(ctx, tx, after, who.At); err != nil {
		return after, err
	}
	if (p.ExcusedAt != nil) != on {
		action := "assignment.excused"
		if !on {
			action = "assignment.unexcused"
		}
		who.Log(tx, action, "assignment", a.ID, map[string]any{"personId": whom})
	}
	return after, nil
}

// MaxReminded is how many people are named at most to be reminded.
const MaxReminded = 200

// Remind has those of some people reminded who are not done, or everybody who is not where none
// are named. The assignment was found by Lock. It answers how many are reminded of those named,
// or how many there are. The error is a conflict (ReasonNotOpen).
func Remind(ctx context.Context, tx *tenant.Tx, a Assignment, whom []id.Person, who activity.Actor) (n int64, err error) {
	if a.StateAt(who.At) != Open {
		return 0, a.conflict(ReasonNotOpen, "The assignment is not open.")
	}
	who.Log(tx, "assignment.reminded", "assignment", a.ID, map[string]any{"people": len(whom)})
	if len(whom) == 0 {
		read, err := Read(ctx, tx, a.ID)
		if err != nil {
			return 0, err
		}
		a.RemindAllAt, a.WalkAfter = &who.At, id.Person{}
		return read.Counts.Assigned - read.Counts.Completed, a.walk(ctx, tx, who.At)
	}
	rows, err := tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND p.person_id = ANY($3) AND p.left_at IS NULL AND p.state NOT IN ('completed', 'excused')
		ORDER BY p.person_id FOR UPDATE`, tx.Org, a.ID, whom)
	if err != nil {
		return 0, err
	}
	changes := make([]change, len(rows))
	for i := range rows {
		changes[i] = change{&rows[i], rows[i]}
		changes[i].After.AskedAt, changes[i].After.RemindAt = &who.At, &who.At
	}
	_, _, err = write(ctx, tx, a.ID, changes, who.At)
	return int64(len(rows)), err
}
