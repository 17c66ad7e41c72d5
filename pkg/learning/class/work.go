package class

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Set has a supervisor set work for those whom they teach. Whoever sends the same form twice,
// which its ExternalID tells, sets it once. The errors are those of assignment.Create,
// errdefs.NotFound of a subject elsewhere, an errdefs.Invalid of whom they do not teach, or
// ErrNone.
func (s *Supervisor) Set(ctx context.Context, tx *tenant.Tx, a assignment.Assignment, who activity.Actor) (assignment.Assignment, error) {
	if !s.Teaches.Any() {
		return a, ErrNone
	}
	of, err := subject.Find(ctx, tx, a.Subject)
	if err == nil && (of.Portal != s.Portal || of.State != subject.Published) {
		err = subject.Noun.NotFound(a.Subject)
	}
	if err != nil {
		return a, err
	}
	// From here on the same person sets nothing else until the commit.
	if _, err := person.Lock(ctx, tx, s.Person.ID); err != nil {
		return a, err
	}
	had, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Assignment], `
		SELECT id FROM assignment WHERE org_id = $1 AND portal_id = $2 AND created_by = $3 AND external_id = $4 LIMIT 1`,
		tx.Org, s.Portal, who.By, a.ExternalID) // rides assignment_by_portal
	if err != nil {
		return a, err
	}
	if len(had) > 0 {
		return assignment.Read(ctx, tx, had[0])
	}
	if err := s.mayReach(ctx, tx, a, who.At); err != nil {
		return a, err
	}
	return assignment.Create(ctx, tx, a, who)
}

// mayReach refuses an audience of whom they do not teach. It rides membership_by_portal.
func (s *Supervisor) mayReach(ctx context.Context, tx *tenant.Tx, a assignment.Assignment, now time.Time) error {
	if s.Teaches.All && (a.Everyone || len(a.People) == 0) {
		return nil
	}
	if a.Everyone || slices.ContainsFunc(a.Units, func(u id.Unit) bool { return !s.Teaches.Has(u) }) {
		return errdefs.InvalidField("audience", "must be of those whom they teach")
	}
	if len(a.People) == 0 {
		return nil
	}
	var taught int
	if err := tx.QueryRow(ctx, `
		SELECT count(DISTINCT m.person_id) FROM membership m
		WHERE m.org_id = $1 AND m.portal_id = $2 AND m.person_id = ANY($4) AND m.role = 'learner' AND`+assignment.There+` AND ($5 OR m.unit_id = ANY($6::UUID[]))`,
		tx.Org, s.Portal, now, a.People, s.Teaches.All, s.Teaches.Units).Scan(&taught); err != nil {
		return err
	}
	if taught != len(a.People) {
		return errdefs.InvalidField("audience", "must be of those whom they teach")
	}
	return nil
}

// Assignment finds an assignment that is for somebody of theirs, or that they set. The error is
// errdefs.NotFound.
func (s *Supervisor) Assignment(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Assignment) (assignment.Assignment, error) {
	a, err := assignment.Get(ctx, t, org, which)
	if err != nil || a.Portal == s.Portal && s.Reviews.All {
		return a, err
	}
	found, err := assignment.ListIn(ctx, t, org, s.in(), id.Assignment{}, which, 1)
	if err == nil && len(found) == 0 {
		return assignment.Assignment{}, assignment.Noun.NotFound(which)
	}
	return a, err
}

// Assignments is a page of those that are for somebody of theirs, or that they set, newest first,
// after one of them; the zero id for the first page.
func (s *Supervisor) Assignments(ctx context.Context, t *tenant.Tenants, org id.Org, after id.Assignment, limit int) ([]assignment.Assignment, error) {
	return assignment.ListIn(ctx, t, org, s.in(), after, id.Assignment{}, limit)
}

// Takers is a page of their people for whom an assignment is, in the order of their ids, after
// one of them.
func (s *Supervisor) Takers(ctx context.Context, t *tenant.Tenants, org id.Org, of id.Assignment, after id.Person, limit int) ([]assignment.Taker, error) {
	return assignment.TakersIn(ctx, t, org, s.in(), of, after, limit)
}

func (s *Supervisor) in() assignment.Within {
	return assignment.Within{Portal: s.Portal, All: s.Reviews.All, Units: s.Reviews.Units, By: s.Person.ID.String()}
}
