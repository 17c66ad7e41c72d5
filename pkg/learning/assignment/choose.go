package assignment

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Wanted is a session for which an assignment is looked for.
type Wanted struct {
	Person  id.Person
	Subject id.Subject
	// Kind is the session's.
	Kind string
	// Named is the assignment that the session is to belong to; zero for whichever it can.
	Named id.Assignment
}

// kind is that of the assignments that sessions of a kind are done for; empty for none.
func (w Wanted) kind() Kind {
	switch w.Kind {
	case session.Practice:
		return Practice
	case session.Assessment:
		return Assess
	case "conversation":
		return Learn
	}
	return ""
}

// mostChosen bounds the assignments for the person that are looked at.
const mostChosen = 10

// Choose finds what a session belongs to, with the person's part of it, which nobody else
// changes until the commit: the one that is named, or else, of those of the subject that are open
// for the person, one that is not completed, the first that is due; one whose attempts are used up
// comes last. Where there is none, both are nil. Who just got it is entered with that. The error,
// of one that is named alone, is errdefs.NotFound or a conflict (ReasonOther, ReasonNotOpen,
// ReasonNotAssigned, ReasonExcused).
func Choose(ctx context.Context, tx *tenant.Tx, w Wanted, now time.Time) (*Assignment, *Progress, error) {
	if !w.Named.IsZero() {
		return w.named(ctx, tx, now)
	}
	open, err := w.open(ctx, tx, now)
	if err != nil {
		return nil, nil, err
	}
	for i := range open {
		p, err := open[i].part(ctx, tx, w.Person, now)
		if err != nil {
			return nil, nil, err
		}
		if p != nil && p.State != Excused {
			return &open[i], p, nil
		}
	}
	return nil, nil, nil
}

// open are the assignments of the subject that are open and for the person, the best to begin
// first. It rides assignment_by_subject and assignment_person_pkey.
func (w Wanted) open(ctx context.Context, tx *tenant.Tx, now time.Time) ([]Assignment, error) {
	units, err := w.units(ctx, tx, now)
	if err != nil {
		return nil, err
	}
	of, err := w.attempts(ctx, tx)
	if err != nil {
		return nil, err
	}
	return tenant.AllIn(ctx, tx, scanBare, `
		SELECT `+columns+` FROM assignment a
			LEFT JOIN assignment_person p ON p.org_id = a.org_id AND p.assignment_id = a.id AND p.person_id = $4
		WHERE a.org_id = $1 AND a.subject_id = $2 AND a.kind = $5 AND a.state IN ('scheduled', 'open')
			AND (a.opens_at IS NULL OR a.opens_at <= $3) AND (a.closes_at IS NULL OR a.closes_at > $3)
			AND (p.state IS NULL OR p.state <> 'excused') AND (p.person_id IS NOT NULL AND p.left_at IS NULL OR `+forPerson+`)
		ORDER BY COALESCE(p.completed_at IS NOT NULL OR p.attempts >= COALESCE(a.attempts_allowed, $7::BIGINT) + p.extra_attempts, false),
			a.due_at IS NULL, a.due_at, a.id LIMIT $8`, tx.Org, w.Subject, now, w.Person, w.kind(), listed(units), of, mostChosen)
}

// forPerson is the condition of an assignment that is for who is at $4 by a place of theirs, who
// learns in the units at $6.
const forPerson = `EXISTS (
				SELECT 1 FROM membership m WHERE m.org_id = a.org_id AND m.portal_id = a.portal_id AND m.person_id = $4 AND` + There + `
					AND ($4::UUID = ANY(a.person_ids) OR m.role = 'learner' AND (a.everyone OR EXISTS (
						SELECT 1 FROM unnest(a.unit_ids) AS u (id) WHERE u.id = ANY($6::UUID[])))))`

// units are those in which the person learns, and those that these lie in. It rides
// membership_by_person and unit_pkey.
func (w Wanted) units(ctx context.Context, tx *tenant.Tx, now time.Time) ([]id.Unit, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Unit], `
		WITH RECURSIVE above (id) AS (
			SELECT m.unit_id FROM membership m
			WHERE m.org_id = $1 AND m.person_id = $2 AND m.role = 'learner' AND m.unit_id IS NOT NULL AND`+There+`
			UNION
			SELECT u.parent_id FROM above w JOIN unit u ON u.org_id = $1 AND u.id = w.id WHERE u.parent_id IS NOT NULL
		)
		SELECT id FROM above`, tx.Org, w.Person, now)
}

// attempts are how many the subject gives everybody; nil for any number.
func (w Wanted) attempts(ctx context.Context, tx *tenant.Tx) (*int64, error) {
	return (&Assignment{Subject: w.Subject, Kind: w.kind()}).attempts(ctx, tx)
}

// part is somebody's part of an assignment; nil where it is not for them.
func (a *Assignment) part(ctx context.Context, tx *tenant.Tx, who id.Person, now time.Time) (*Progress, error) {
	p, err := lockProgress(ctx, tx, a.ID, who)
	switch {
	case err != nil:
		return nil, err
	case p != nil && p.LeftAt == nil:
		return p, nil
	}
	place, err := a.includes(ctx, tx, who, now)
	if err != nil || place.IsZero() {
		return nil, err
	}
	if p == nil {
		return a.enter(ctx, tx, candidate{who, place}, now)
	}
	after := *p
	after.LeftAt, after.Membership = nil, place
	after.stand(a, now)
	if err := p.save(ctx, tx, after, now); err != nil {
		return nil, err
	}
	after, err = a.follow(ctx, tx, &after, now)
	return &after, err
}

func (w Wanted) named(ctx context.Context, tx *tenant.Tx, now time.Time) (*Assignment, *Progress, error) {
	a, err := find(ctx, tx, w.Named)
	switch {
	case err != nil:
		return nil, nil, err
	case a.Subject != w.Subject || a.Kind != w.kind():
		return nil, nil, a.conflict(ReasonOther, "The assignment is of another subject, or of another kind than the session.")
	case a.StateAt(now) != Open:
		return nil, nil, a.conflict(ReasonNotOpen, "The assignment is not open.")
	}
	p, err := a.part(ctx, tx, w.Person, now)
	switch {
	case err != nil:
		return nil, nil, err
	case p == nil:
		return nil, nil, a.conflict(ReasonNotAssigned, "The assignment is not for this person.")
	case p.State == Excused:
		return nil, nil, a.conflict(ReasonExcused, "The person is excused from the assignment.")
	}
	return &a, p, nil
}
