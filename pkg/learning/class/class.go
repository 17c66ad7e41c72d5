// Package class is what members with a role in a portal see and do of the learning of others:
// who learns with them, what is set for those, and the results that wait for a person. What may
// be done with results and assignments are the rules of packages result and assignment.
//
// A teacher's or manager's place, and a reviewer's, counts for the unit that it is in and what
// lies in that, or outside any for the whole portal, and only the one by which they came. Nobody has a say in results of their own.
package class

import (
	"context"
	"errors"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// Scope is whom of a portal somebody has to do with: all, or those in some units.
type Scope struct {
	All   bool
	Units []id.Unit
}

// Any says whether it is somebody at all.
func (s *Scope) Any() bool { return s.All || len(s.Units) > 0 }

// Has says whether it is who is in a unit.
func (s *Scope) Has(u id.Unit) bool { return s.All || !u.IsZero() && slices.Contains(s.Units, u) }

// Supervisor is somebody who has to do with the learning of others on a portal.
type Supervisor struct {
	Person person.Person
	Portal id.Portal
	// Teaches is of whom they set work, as teachers and managers, and Reviews of whom they see
	// results, as reviewers too.
	Teaches, Reviews Scope
}

// The errors of this package, besides those of others.
var (
	// ErrNone says that somebody has to do with nobody's learning on a portal.
	ErrNone = errors.New("no class on the portal")
	// ErrStale says that a result was changed since it was looked at.
	ErrStale = errors.New("the result was changed meanwhile")
)

// Visitor is who came to a portal, and by which place: what another place of theirs allows is only
// for who came by that.
type Visitor struct {
	Portal id.Portal
	Person id.Person
	Place  id.Membership
}

// Of is what somebody has to do with by the place that they came by, if they can use it now. The
// error is ErrNone.
func Of(ctx context.Context, tx *tenant.Tx, by Visitor, now time.Time) (Supervisor, error) {
	s := Supervisor{Portal: by.Portal}
	places, err := person.Places(ctx, tx, by.Person, now)
	if err != nil {
		return s, err
	}
	for _, p := range places {
		if p.Membership.ID != by.Place || p.Membership.Portal != by.Portal || !p.Usable || p.Portal != portal.Published {
			continue
		}
		switch p.Membership.Role {
		case person.Teacher, person.Manager:
			s.Teaches.add(p.Membership.Unit)
			s.Reviews.add(p.Membership.Unit)
		case person.Reviewer:
			s.Reviews.add(p.Membership.Unit)
		case person.Learner, person.Staff, person.Admin:
			continue
		}
		s.Person = p.Person
	}
	if !s.Reviews.Any() {
		return s, ErrNone
	}
	for _, scope := range []*Scope{&s.Teaches, &s.Reviews} {
		own := scope.Units
		if scope.Units, err = unit.Within(ctx, tx, own); err != nil {
			return s, err
		}
		// Theirs come first, before what lies in them.
		slices.SortStableFunc(scope.Units, func(a, b id.Unit) int { return rank(own, a) - rank(own, b) })
	}
	return s, nil
}

func rank(own []id.Unit, u id.Unit) int {
	if slices.Contains(own, u) {
		return 0
	}
	return 1
}

func (s *Scope) add(u id.Unit) {
	if u.IsZero() {
		s.All = true
		return
	}
	s.Units = append(s.Units, u)
}

// Lock finds a result that they may look at, which nobody else changes until the commit. The
// error is errdefs.NotFound, also of one that is not for them.
func (s *Supervisor) Lock(ctx context.Context, tx *tenant.Tx, which id.Result) (result.Result, error) {
	r, err := result.Lock(ctx, tx, which)
	if err != nil {
		return r, err
	}
	sees, err := s.sees(ctx, tx, r)
	if err == nil && !sees {
		return result.Result{}, result.Noun.NotFound(which)
	}
	return r, err
}

// sees says whether a result is for them: of an assessment, or of what somebody objects to, by
// somebody whose place is in their units now. A practice is the learner's own.
func (s *Supervisor) sees(ctx context.Context, tx *tenant.Tx, r result.Result) (bool, error) {
	if !waits(&r) || r.Portal != s.Portal || r.Person == s.Person.ID {
		return false, nil
	}
	if s.Reviews.All || r.Membership.IsZero() {
		return s.Reviews.All, nil
	}
	m, err := person.FindMembership(ctx, tx, r.Membership)
	if errdefs.IsAbsent(err, person.MembershipNoun) {
		return false, nil
	}
	return err == nil && s.Reviews.Has(m.Unit), err
}

// waits says whether a result is one that is looked at: of an assessment, or of what waits or is objected to.
func waits(r *result.Result) bool {
	return r.State == result.AwaitingReview || r.State == result.Contested || r.State == result.Released && r.Kind == assessment
}

const assessment = "assessment"
