package class

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// Learner is somebody of a class, as far as a supervisor has to do with them.
type Learner struct {
	Person person.Person
	// Units are those in which they learn with the supervisor.
	Units []id.Unit
	// Teaches says that the supervisor sets work for them.
	Teaches bool
	// all says that every place of theirs on the portal counts, and not only the places, of which taught are
	// those by which work is set for them.
	all, taughtAll bool
	places, taught []id.Membership
}

// Learner finds somebody who learns with the supervisor now. The error is errdefs.NotFound, also of others and of
// themselves.
func (s *Supervisor) Learner(ctx context.Context, tx *tenant.Tx, who id.Person, now time.Time) (Learner, error) {
	none := person.Noun.NotFound(who)
	if who == s.Person.ID {
		return Learner{}, none
	}
	standings, err := person.Places(ctx, tx, who, now)
	if err != nil {
		return Learner{}, err
	}
	l := Learner{all: s.Reviews.All, taughtAll: s.Teaches.All}
	for _, p := range standings {
		m := p.Membership
		there := (m.StartsAt == nil || !m.StartsAt.After(now)) && (m.EndsAt == nil || m.EndsAt.After(now))
		if m.Portal != s.Portal || m.Role != person.Learner || !there || !s.Reviews.Has(m.Unit) {
			continue
		}
		l.Person = p.Person
		l.places = append(l.places, m.ID)
		if !m.Unit.IsZero() {
			l.Units = append(l.Units, m.Unit)
		}
		if s.Teaches.Has(m.Unit) {
			l.Teaches = true
			l.taught = append(l.taught, m.ID)
		}
	}
	if len(l.places) == 0 {
		return Learner{}, none
	}
	return l, nil
}

// part says whether a part of an assignment is by a place with the supervisor.
func (l *Learner) part(p *assignment.Progress) bool {
	return l.all || slices.Contains(l.places, p.Membership)
}

// changes says whether the supervisor may change it.
func (l *Learner) changes(p *assignment.Progress) bool {
	return l.taughtAll || slices.Contains(l.taught, p.Membership)
}

// Parts are those of the parts that are by a place with the supervisor.
func (l *Learner) Parts(all []assignment.Part) []assignment.Part {
	return slices.DeleteFunc(all, func(p assignment.Part) bool { return !l.part(&p.Progress) })
}

// Attempt is a result as a list of somebody's attempts has it.
type Attempt struct {
	ID          id.Result
	Kind        string
	State       result.State
	Assignment  id.Assignment
	Subject     id.Subject
	Attempt     int64
	StartedAt   time.Time
	CompletedAt *time.Time
	// Percent and Passed are nil before it is released, and of a practice.
	Percent *float64
	Passed  *bool
	// Seen says that the supervisor may look at it (Supervisor.Lock).
	Seen bool
}

// Attempts are those of the results that are by a place with the supervisor, without what is not told in lists: what
// is not released, and what a practice, which is the learner's own, is worth.
func (l *Learner) Attempts(all []result.Result) (found []Attempt) {
	for _, r := range all {
		if !l.all && !slices.Contains(l.places, r.Membership) {
			continue
		}
		a := Attempt{
			ID: r.ID, Kind: r.Kind, State: r.State, Assignment: r.Assignment, Subject: r.Subject, Attempt: r.Attempt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
			Seen: waits(&r),
		}
		if r.Shown() && r.Kind == assessment {
			a.Percent, a.Passed = r.Percent, r.Passed
		}
		found = append(found, a)
	}
	return found
}

// Part is somebody's part of an assignment, if they learn with the supervisor by the place that it is for. The
// error is errdefs.NotFound.
func (s *Supervisor) Part(ctx context.Context, t *tenant.Tenants, org id.Org, l *Learner, which id.Assignment) (assignment.Part, error) {
	p, err := assignment.PartOf(ctx, t, org, which, l.Person.ID)
	if err == nil && (p.Progress.LeftAt != nil || p.Assignment.Portal != s.Portal || p.Assignment.ArchivedAt != nil || !l.part(&p.Progress)) {
		return assignment.Part{}, assignment.Noun.NotFound(which)
	}
	return p, err
}

// May says whether the supervisor may change a part of somebody's.
func (l *Learner) May(p *assignment.Part) bool { return l.changes(&p.Progress) }

// PartChange is what a supervisor does with somebody's part of an assignment.
type PartChange struct {
	Person     id.Person
	Assignment id.Assignment
	// What is grant, excuse or include.
	What string
	// Extra is how many further attempts are granted, to somebody who had Seen of them.
	Extra, Seen int64
	Reason      *string
}

// ChangePart has a supervisor change somebody's part of an assignment as they looked at it. Whoever sends the same
// twice does it once. The error is errdefs.NotFound, also of whom they do not teach, ErrNone, ErrStale, or the rule's.
func ChangePart(ctx context.Context, tx *tenant.Tx, by Visitor, c PartChange, address string, now time.Time) error {
	s, err := Of(ctx, tx, by, now)
	if err != nil {
		return err
	}
	l, err := s.Learner(ctx, tx, c.Person, now)
	if err != nil {
		return err
	}
	// From here on nobody else changes it.
	p, err := assignment.Hold(ctx, tx, c.Assignment, c.Person, now)
	if errdefs.IsConflict(err, assignment.Noun, assignment.ReasonNotAssigned) {
		err = assignment.Noun.NotFound(c.Assignment)
	}
	if err != nil {
		return err
	}
	if p.Assignment.Portal != s.Portal || !l.changes(&p.Progress) {
		return assignment.Noun.NotFound(c.Assignment)
	}
	who := Actor(by.Person, address, now)
	if c.What != "grant" {
		_, err = assignment.Excuse(ctx, tx, c.Assignment, c.Person, c.What == "excuse", c.Reason, who)
		return err
	}
	switch p.Progress.Extra {
	case c.Seen + c.Extra:
		return nil
	case c.Seen:
		_, err = assignment.Grant(ctx, tx, assignment.AttemptGrant{Assignment: c.Assignment, Person: c.Person, Extra: c.Extra, Reason: c.Reason}, who)
		return err
	}
	return ErrStale
}
