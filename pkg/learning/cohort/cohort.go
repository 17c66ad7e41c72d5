// Package cohort tells how a group of people did with a subject: how many have a result, how they did on average, how
// many passed, and what they master. What it answers is for people who may not know how each of
// them did (spec, Results and Reports).
//
// All that it tells is a number of people, or a sum of a value over some. What was ever told of a subject is kept
// (ledger.go) and nothing is told beside which any combination of all that was told would be of fewer than
// few.Least people. What may not be told stays as it was told before, or is withheld.
package cohort

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Selection is whom figures are of: those who have a result of a subject.
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

// learner is somebody who has a result that counts, and what that is worth.
type learner struct {
	person    id.Person
	place     id.Membership
	unit      id.Unit
	completed time.Time
	percent   float64
	// band is empty where nobody can fail.
	band       string
	objectives []mastery.Shift
}

// atOnce is how many rows are read at once.
const atOnce = 500

// people are those of a selection who have a result that counts, in the order of their ids, but for those whose guardian
// has to agree to reports and has not.
func (s Selection) people(ctx context.Context, t *tenant.Tenants, org id.Org, now time.Time) ([]*learner, error) {
	found := map[id.Person]*learner{}
	if err := s.scored(ctx, t, org, found); err != nil {
		return nil, err
	}
	if err := s.within(ctx, t, org, found); err != nil {
		return nil, err
	}
	all := slices.SortedFunc(maps.Values(found), func(a, b *learner) int { return slices.Compare(a.person[:], b.person[:]) })
	var agreed []*learner
	for some := range slices.Chunk(all, atOnce) {
		some, err := s.agreed(ctx, t, org, some, now)
		if err != nil {
			return nil, err
		}
		agreed = append(agreed, some...)
	}
	return agreed, nil
}

// assessed is a row of a result.
type assessed struct {
	ID         id.Result
	Person     id.Person
	Place      id.Membership
	Unit       *id.Unit
	Percent    float64
	Band       *string
	Completed  time.Time
	Objectives []mastery.Shift
}

// scored finds the results that count: of each person the assessment that was completed last. It rides
// result_by_subject.
func (s Selection) scored(ctx context.Context, t *tenant.Tenants, org id.Org, into map[id.Person]*learner) error {
	for after := (id.Result{}); ; {
		rows, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[assessed], `
			SELECT r.id, r.person_id, r.membership_id, CASE WHEN m.id IS NULL THEN r.unit_id ELSE m.unit_id END, r.percent, r.band,
				COALESCE(r.completed_at, r.started_at), COALESCE(r.objectives, '[]')
			FROM result r LEFT JOIN membership m ON m.org_id = r.org_id AND m.id = r.membership_id
			WHERE r.org_id = $1 AND r.subject_id = $2 AND r.portal_id = $3 AND ($4::UUID IS NULL OR r.id > $4) AND ($5::UUID IS NULL OR r.assignment_id = $5)
				AND r.kind = 'assessment' AND r.state IN ('released', 'contested') AND r.percent IS NOT NULL
			ORDER BY r.id LIMIT $6`, org, s.Subject, s.Portal, after, s.Assignment, atOnce)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if had := into[r.Person]; had != nil && had.completed.After(r.Completed) {
				continue
			}
			l := &learner{person: r.Person, place: r.Place, completed: r.Completed, percent: r.Percent, objectives: r.Objectives}
			if r.Unit != nil {
				l.unit = *r.Unit
			}
			if r.Band != nil {
				l.band = *r.Band
			}
			into[r.Person] = l
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
