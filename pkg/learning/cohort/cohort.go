// Package cohort counts how a group of people does with a subject: how far they got, how their
// scores spread, what was hardest and what they master. What it answers is for people who
// may not know how each of them did (spec, Results and Reports).
//
// No figure is of fewer than few.Least people, nor is the difference of two figures, whether they
// stand in one report, in two of a group at two times, or in those of two groups of a subject
// (kept.go). Practices, and results that are not released or do not count, are in none.
package cohort

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Selection is whom figures are of: those for whom work of a subject is set, and those who did it.
type Selection struct {
	Portal  id.Portal
	Subject id.Subject
	// Assignment is the only one that counts, and Unit where their places are, or in a unit that lies in
	// it; zero for any. Not both are given.
	Assignment id.Assignment
	Unit       id.Unit
}

// key names the selection among those of its subject.
func (s Selection) key() string {
	switch {
	case !s.Assignment.IsZero():
		return s.Assignment.String()
	case !s.Unit.IsZero():
		return s.Unit.String()
	}
	return s.Subject.String()
}

// learner is somebody of a group.
type learner struct {
	person           id.Person
	place            id.Membership
	unit             id.Unit
	began, completed bool
	// scored is the result that counts; nil for none that is released.
	scored     *scored
	objectives []mastery.Objective
}

// scored is what a result adds to the figures.
type scored struct {
	percent   float64
	passed    *bool
	completed time.Time
	criteria  []share
}

// share is how much of a criterion's points somebody has, from 0 to 1.
type share struct {
	key, label string
	of         float64
}

// atOnce is how many rows are read at once.
const atOnce = 500

// people are those of a selection, in the order of their ids, but for those whose guardian has to agree to reports and
// has not.
func (s Selection) people(ctx context.Context, t *tenant.Tenants, org id.Org, now time.Time) ([]*learner, error) {
	found := map[id.Person]*learner{}
	if err := s.assigned(ctx, t, org, found); err != nil {
		return nil, err
	}
	if err := s.scored(ctx, t, org, found); err != nil {
		return nil, err
	}
	if err := s.within(ctx, t, org, found); err != nil {
		return nil, err
	}
	all := make([]*learner, 0, len(found))
	for _, l := range found {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *learner) int { return slices.Compare(a.person[:], b.person[:]) })
	var agreed []*learner
	for some := range slices.Chunk(all, atOnce) {
		some, err := s.agreed(ctx, t, org, some, now)
		if err != nil {
			return nil, err
		}
		if err := s.masters(ctx, t, org, some); err != nil {
			return nil, err
		}
		agreed = append(agreed, some...)
	}
	return agreed, nil
}

// assignee is somebody's part of an assignment.
type assignee struct {
	Person           id.Person
	Place            id.Membership
	Unit             *id.Unit
	Began, Completed bool
}

// assigned finds those for whom work is set, and how far they got. It rides assignment_by_subject or
// assignment_pkey, and assignment_person_pkey.
func (s Selection) assigned(ctx context.Context, t *tenant.Tenants, org id.Org, into map[id.Person]*learner) error {
	works := []id.Assignment{s.Assignment}
	if s.Assignment.IsZero() {
		var err error
		if works, err = tenant.All(ctx, t, org, pgx.RowTo[id.Assignment], `
			SELECT id FROM assignment WHERE org_id = $1 AND subject_id = $2 AND portal_id = $3 ORDER BY id`, org, s.Subject, s.Portal); err != nil {
			return err
		}
	}
	for _, of := range works {
		for after := (id.Person{}); ; {
			parts, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[assignee], `
				SELECT p.person_id, p.membership_id, m.unit_id, p.started_at IS NOT NULL OR p.completed_at IS NOT NULL, p.completed_at IS NOT NULL
				FROM assignment_person p LEFT JOIN membership m ON m.org_id = p.org_id AND m.id = p.membership_id
				WHERE p.org_id = $1 AND p.assignment_id = $2 AND ($3::UUID IS NULL OR p.person_id > $3) AND p.left_at IS NULL AND p.excused_at IS NULL
				ORDER BY p.person_id LIMIT $4`, org, of, after, atOnce)
			if err != nil {
				return err
			}
			for _, p := range parts {
				l := into[p.Person]
				if l == nil {
					l = &learner{person: p.Person, place: p.Place}
					into[p.Person] = l
				}
				if p.Unit != nil {
					l.unit = *p.Unit
				}
				l.began, l.completed = l.began || p.Began, l.completed || p.Completed
			}
			if len(parts) < atOnce {
				break
			}
			after = parts[len(parts)-1].Person
		}
	}
	return nil
}

// assessed is a row of a result.
type assessed struct {
	ID        id.Result
	Person    id.Person
	Place     id.Membership
	Unit      *id.Unit
	Percent   float64
	Passed    *bool
	Completed time.Time
	Criteria  []result.Criterion
}

// scored finds the results that count: of each person the assessment that was completed last. It rides
// result_by_subject.
func (s Selection) scored(ctx context.Context, t *tenant.Tenants, org id.Org, into map[id.Person]*learner) error {
	for after := (id.Result{}); ; {
		rows, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[assessed], `
			SELECT r.id, r.person_id, r.membership_id, CASE WHEN m.id IS NULL THEN r.unit_id ELSE m.unit_id END, r.percent, r.passed,
				COALESCE(r.completed_at, r.started_at), r.criteria
			FROM result r LEFT JOIN membership m ON m.org_id = r.org_id AND m.id = r.membership_id
			WHERE r.org_id = $1 AND r.subject_id = $2 AND r.portal_id = $3 AND ($4::UUID IS NULL OR r.id > $4) AND ($5::UUID IS NULL OR r.assignment_id = $5)
				AND r.kind = 'assessment' AND r.state IN ('released', 'contested') AND r.percent IS NOT NULL
			ORDER BY r.id LIMIT $6`, org, s.Subject, s.Portal, after, s.Assignment, atOnce)
		if err != nil {
			return err
		}
		for _, r := range rows {
			l := into[r.Person]
			if l == nil {
				l = &learner{person: r.Person}
				into[r.Person] = l
			}
			if l.scored != nil && l.scored.completed.After(r.Completed) {
				continue
			}
			l.began, l.completed, l.place = true, true, r.Place
			if l.unit = (id.Unit{}); r.Unit != nil {
				l.unit = *r.Unit
			}
			l.scored = &scored{percent: r.Percent, passed: r.Passed, completed: r.Completed.UTC()}
			for _, c := range r.Criteria {
				if c.Score != nil && c.MaxScore > 0 {
					l.scored.criteria = append(l.scored.criteria, share{c.Key, c.Label, *c.Score / c.MaxScore})
				}
			}
		}
		if len(rows) < atOnce {
			return nil
		}
		after = rows[len(rows)-1].ID
	}
}

// within leaves those whose places are in the selection's unit.
func (s Selection) within(ctx context.Context, t *tenant.Tenants, org id.Org, all map[id.Person]*learner) error {
	if s.Unit.IsZero() {
		return nil
	}
	var units []id.Unit
	if err := t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		units, err = unit.Within(ctx, tx, []id.Unit{s.Unit})
		return err
	}, tenant.Idempotent(true)); err != nil {
		return err
	}
	for who, l := range all {
		if !slices.Contains(units, l.unit) {
			delete(all, who)
		}
	}
	return nil
}

// agreed leaves out whose guardian has to agree to reports and has not (package report says of whom). Of who
// has no place any more nobody can agree: they are left out where they may be minors.
func (s Selection) agreed(ctx context.Context, t *tenant.Tenants, org id.Org, all []*learner, now time.Time) (left []*learner, err error) {
	var of []id.Person
	for _, l := range all {
		of = append(of, l.person)
	}
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		left = nil
		places, err := person.PlacesOf(ctx, tx, of, now)
		if err != nil {
			return err
		}
		known := map[id.Membership]person.Standing{}
		for _, p := range places {
			known[p.Membership.ID] = p
		}
		young, err := s.young(ctx, tx, all)
		if err != nil {
			return err
		}
		for _, l := range all {
			p, there := known[l.place]
			agrees := there && (!p.Guardian.Required && !young[l.unit] || p.Guardian.Covers(consent.ToReport))
			if !there && !young[l.unit] {
				if agrees, err = grown(ctx, tx, l.person); err != nil {
					return err
				}
			}
			if agrees {
				left = append(left, l)
			}
		}
		return nil
	}, tenant.Idempotent(true))
	return left, err
}

// young says of the units of people where everybody is taken for a minor.
func (s Selection) young(ctx context.Context, tx *tenant.Tx, all []*learner) (map[id.Unit]bool, error) {
	found := map[id.Unit]bool{}
	for _, l := range all {
		if _, seen := found[l.unit]; seen {
			continue
		}
		at, err := setting.At(ctx, tx, setting.Place{Portal: s.Portal, Unit: l.unit})
		if err != nil {
			return nil, err
		}
		found[l.unit] = at.On(setting.YoungLearners)
	}
	return found, nil
}

// grown says whether somebody is known not to be a minor.
func grown(ctx context.Context, tx *tenant.Tx, which id.Person) (bool, error) {
	who, err := person.Find(ctx, tx, which)
	if errdefs.IsAbsent(err, person.Noun) {
		return false, nil
	}
	return err == nil && !who.AgeBand.Minor(), err
}

// masters finds what they master of the subject. It rides mastery_pkey.
func (s Selection) masters(ctx context.Context, t *tenant.Tenants, org id.Org, all []*learner) error {
	by := map[id.Person]*learner{}
	var of []id.Person
	for _, l := range all {
		by[l.person] = l
		of = append(of, l.person)
	}
	found, err := mastery.OfPeople(ctx, t, org, of, s.Subject)
	for _, o := range found {
		l := by[o.Person]
		l.objectives = append(l.objectives, o)
	}
	return err
}
