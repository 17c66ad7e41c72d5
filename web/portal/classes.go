package portal

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
	"visavis.dev/web/page"
)

const (
	// mostMembers and mostUnits are how many are on the form by which work is set.
	mostMembers = 100
	mostUnits   = 100
	// mostTurns is how many turns of a conversation are shown.
	mostTurns = 400
)

// classes are what the members of pages have to do with the learning of others.
type classes struct{ *Server }

// by is who came, and by which place.
func by(in signin.Guest) class.Visitor {
	return class.Visitor{Portal: in.Portal, Person: in.Person, Place: in.Membership}
}

// supervisor finds who has a class whom a browser's secret is of.
func (c classes) supervisor(ctx context.Context, site *published.Site, secret string) (in signin.Guest, z page.Zoned, s class.Supervisor, err error) {
	if in, z, err = c.member(ctx, site, secret); err != nil {
		return in, z, s, err
	}
	err = c.options.Backend.Tenants.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		s, err = class.Of(ctx, tx, by(in), z.Now)
		return err
	}, tenant.Idempotent(true))
	return in, z, s, err
}

// Class implements page.Classes.
func (c classes) Class(ctx context.Context, site *published.Site, secret string, at page.ClassAt) (shown page.Class, err error) {
	in, z, s, err := c.supervisor(ctx, site, secret)
	if err != nil {
		return shown, err
	}
	t := c.options.Backend.Tenants
	shown.Zoned, shown.Supervisor = z, s
	members, err := class.Members(ctx, t, in.Org, in.Portal, s.Reviews, z.Now, from(id.ParsePerson, at.Members), listed+1)
	if err != nil {
		return shown, err
	}
	shown.Members, shown.MoreOf = paged(members, func(m class.Member) string { return m.Person.String() })
	tasks, err := s.Assignments(ctx, t, in.Org, from(id.ParseAssignment, at.Tasks), listed+1)
	shown.Tasks, shown.MoreOfWork = paged(tasks, func(a assignment.Assignment) string { return a.ID.String() })
	return shown, err
}

// Taught implements page.Classes.
func (c classes) Taught(ctx context.Context, site *published.Site, secret string) (shown page.Class, err error) {
	in, z, s, err := c.supervisor(ctx, site, secret)
	if err == nil && !s.Teaches.Any() {
		err = class.ErrNone
	}
	if err != nil {
		return shown, err
	}
	t := c.options.Backend.Tenants
	shown.Zoned, shown.Supervisor = z, s
	if shown.Members, err = class.Members(ctx, t, in.Org, in.Portal, s.Teaches, z.Now, id.Person{}, mostMembers+1); err != nil {
		return shown, err
	}
	if shown.Units, err = taught(ctx, t, in, s.Teaches, mostUnits+1); err != nil {
		return shown, err
	}
	shown.More = len(shown.Members) > mostMembers || len(shown.Units) > mostUnits
	shown.Members, shown.Units = shown.Members[:min(len(shown.Members), mostMembers)], shown.Units[:min(len(shown.Units), mostUnits)]
	return shown, nil
}

// taught are units for which somebody sets work: those that they teach first, then what lies in them.
func taught(ctx context.Context, t *tenant.Tenants, in signin.Guest, of class.Scope, limit int) (found []unit.Unit, err error) {
	if of.All {
		return unit.List(ctx, t, in.Org, unit.Filter{Portal: in.Portal}, id.Unit{}, limit)
	}
	err = t.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		found = nil
		for _, which := range of.Units[:min(limit, len(of.Units))] {
			u, err := unit.Find(ctx, tx, which)
			if err != nil {
				return err
			}
			found = append(found, u)
		}
		return nil
	}, tenant.Idempotent(true))
	return found, err
}

// Task implements page.Classes.
func (c classes) Task(ctx context.Context, site *published.Site, secret string, which id.Assignment, after string) (shown page.Task, err error) {
	in, z, s, err := c.supervisor(ctx, site, secret)
	if err != nil {
		return shown, err
	}
	t := c.options.Backend.Tenants
	shown.Zoned = z
	if shown.Assignment, err = s.Assignment(ctx, t, in.Org, which); err != nil {
		return shown, err
	}
	takers, err := s.Takers(ctx, t, in.Org, which, from(id.ParsePerson, after), listed+1)
	shown.Takers, shown.Next = paged(takers, func(k assignment.Taker) string { return k.Person.String() })
	// The figures are of everybody's: whoever sees a part of them is told none. Neither one, nor what is
	// left beside the others, is of few.
	n := shown.Assignment.Counts
	shown.Figures = s.Reviews.All && n.Assigned >= few.Least && few.May(n.Completed) && few.May(n.Overdue) && few.May(n.Assigned-n.Completed-n.Overdue)
	return shown, err
}

// Learner implements page.Classes.
func (c classes) Learner(ctx context.Context, site *published.Site, secret string, who id.Person, at page.LearnerAt) (shown page.Learner, err error) {
	in, z, err := c.member(ctx, site, secret)
	if err != nil {
		return shown, err
	}
	shown.Zoned = z
	t := c.options.Backend.Tenants
	err = t.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		s, err := class.Of(ctx, tx, by(in), z.Now)
		if err != nil {
			return err
		}
		if shown.Learner, err = s.Learner(ctx, tx, who, z.Now); err != nil {
			return err
		}
		shown.UnitNames = nil
		for _, of := range shown.Units {
			u, err := unit.Find(ctx, tx, of)
			if err != nil {
				return err
			}
			shown.UnitNames = append(shown.UnitNames, u.Name)
		}
		return nil
	}, tenant.Idempotent(true))
	if err != nil {
		return shown, err
	}
	parts, err := assignment.OfPersonOn(ctx, t, in.Org, in.Portal, who, from(id.ParseAssignment, at.Tasks), listed+1)
	if err != nil {
		return shown, err
	}
	parts, shown.MoreOfWork = paged(parts, func(p assignment.Part) string { return p.Assignment.ID.String() })
	shown.Parts = shown.Learner.Parts(parts)
	results, err := result.List(ctx, t, in.Org, result.Filter{Portal: in.Portal, Person: who}, from(id.ParseResult, at.Attempts), listed+1)
	if err != nil {
		return shown, err
	}
	results, shown.MoreOf = paged(results, func(r result.Result) string { return r.ID.String() })
	shown.Attempts = shown.Learner.Attempts(results)
	shown.Mastery, err = mastery.OfPerson(ctx, t, in.Org, who, id.Subject{}, id.Subject{}, mostMastered)
	return shown, err
}

// Part implements page.Classes.
func (c classes) Part(ctx context.Context, site *published.Site, secret string, who id.Person, which id.Assignment) (shown page.Part, err error) {
	in, z, err := c.member(ctx, site, secret)
	if err != nil {
		return shown, err
	}
	shown.Zoned = z
	t := c.options.Backend.Tenants
	var s class.Supervisor
	err = t.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		if s, err = class.Of(ctx, tx, by(in), z.Now); err == nil {
			shown.Learner, err = s.Learner(ctx, tx, who, z.Now)
		}
		return err
	}, tenant.Idempotent(true))
	if err != nil {
		return shown, err
	}
	shown.Part, err = s.Part(ctx, t, in.Org, &shown.Learner, which)
	shown.May = shown.Learner.May(&shown.Part)
	return shown, err
}

// ChangePart implements page.Classes.
func (c classes) ChangePart(ctx context.Context, site *published.Site, secret string, change class.PartChange, at netip.Addr) error {
	in, z, err := c.member(ctx, site, secret)
	if err != nil {
		return err
	}
	return c.options.Backend.Tenants.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return class.ChangePart(ctx, tx, by(in), change, at.String(), z.Now)
	})
}

// Set implements page.Classes.
func (c classes) Set(ctx context.Context, site *published.Site, secret string, a assignment.Assignment, at netip.Addr) (made id.Assignment, err error) {
	in, z, err := c.member(ctx, site, secret)
	if err != nil {
		return made, err
	}
	err = c.options.Backend.Tenants.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		s, err := class.Of(ctx, tx, by(in), z.Now)
		if err != nil {
			return err
		}
		set, err := s.Set(ctx, tx, a, class.Actor(in.Person, at.String(), z.Now))
		made = set.ID
		return err
	})
	return made, err
}

// Waiting implements page.Classes.
func (c classes) Waiting(ctx context.Context, site *published.Site, secret, after string) (shown page.Waiting, err error) {
	in, z, s, err := c.supervisor(ctx, site, secret)
	if err != nil {
		return shown, err
	}
	shown.Zoned = z
	found, err := class.ListWaiting(ctx, c.options.Backend.Tenants, in.Org, s, from(id.ParseResult, after), listed+1)
	shown.Results, shown.Next = paged(found, func(w class.Waiting) string { return w.Result.String() })
	return shown, err
}

// Review implements page.Classes.
func (c classes) Review(ctx context.Context, site *published.Site, secret string, which id.Result) (shown page.Reviewed, err error) {
	in, z, err := c.member(ctx, site, secret)
	if err != nil {
		return shown, err
	}
	var r result.Result
	t := c.options.Backend.Tenants
	err = t.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		s, err := class.Of(ctx, tx, by(in), z.Now)
		if err != nil {
			return err
		}
		if r, err = s.Lock(ctx, tx, which); err != nil {
			return err
		}
		p, err := person.Find(ctx, tx, r.Person)
		shown.Name = p.Name
		return err
	}, tenant.Idempotent(true))
	if err != nil {
		return shown, err
	}
	if shown.Scored, err = c.scored(ctx, in.Org, z, r); err != nil || !shown.Look.Readable {
		return shown, err
	}
	turns, err := session.Turns(ctx, t, in.Org, r.Session, 0, mostTurns+1)
	shown.MoreTurns = len(turns) > mostTurns
	for _, turn := range turns[:min(len(turns), mostTurns)] {
		if !turn.Unrecorded && turn.Heard() != "" {
			shown.Turns = append(shown.Turns, turn)
		}
	}
	return shown, err
}

// Decide implements page.Classes.
func (c classes) Decide(ctx context.Context, site *published.Site, secret string, d page.Decision) error {
	in, z, err := c.member(ctx, site, secret)
	if err != nil {
		return err
	}
	t := c.options.Backend.Tenants
	err = t.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return class.Change(ctx, tx, by(in), d.Result, d.Edition, d.From.String(), z.Now,
			func(ctx context.Context, tx *tenant.Tx, r result.Result, who activity.Actor) error {
				return decide(ctx, tx, r, d, who)
			})
	})
	if errors.Is(err, class.ErrStale) || errdefs.IsNotFound(err, result.Noun) {
		did, failed := class.Did(ctx, t, in.Org, by(in), d.Result, d.What)
		if failed != nil {
			return failed
		}
		if did {
			return nil // it was sent twice
		}
	}
	return err
}

// decide does what somebody decided, by the rules of package result.
func decide(ctx context.Context, tx *tenant.Tx, r result.Result, d page.Decision, who activity.Actor) (err error) {
	switch d.What {
	case "scores":
		_, err = result.Change(ctx, tx, r, d.Scores, d.Reason, who)
	case "release":
		_, err = result.Release(ctx, tx, r, who)
	case "complete":
		err = class.Complete(ctx, tx, r, who)
	case "void":
		_, err = result.Void(ctx, tx, r, d.Reason, who)
	case "upheld", "rejected":
		var k result.Contest
		if k, err = class.OpenContest(ctx, tx, r); err == nil {
			_, _, err = result.Decide(ctx, tx, k, r, d.What, &d.Reason, who)
		}
	default:
		err = fmt.Errorf("nothing can be decided by %q", d.What)
	}
	return err
}
