package assignment

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// candidate is somebody whom an assignment is for, with the place by which it is.
type candidate struct {
	Person id.Person
	Place  id.Membership
}

func byPerson(a, b candidate) int { return bytes.Compare(a.Person[:], b.Person[:]) }

// There is the condition of a place m that somebody has at $3. Whether it is switched on does not
// matter: who is away for a week keeps their work.
const There = ` m.removed_at IS NULL AND (m.starts_at IS NULL OR m.starts_at <= $3) AND (m.ends_at IS NULL OR m.ends_at > $3)`

// The statements of candidates after $4, $5 at most. A learner's place counts, and any place of
// who is named.
const (
	// Rides membership_by_portal.
	everyLearner = `
		SELECT DISTINCT ON (m.person_id) m.person_id, m.id FROM membership m
		WHERE m.org_id = $1 AND m.portal_id = $2 AND m.person_id > $4 AND m.role = 'learner' AND` + There + `
		ORDER BY m.person_id, m.id LIMIT $5`
	// Rides membership_by_unit, once for each unit.
	learnersOfUnits = `
		SELECT DISTINCT ON (l.person_id) l.person_id, l.id FROM unnest($6::UUID[]) AS u (id) CROSS JOIN LATERAL (
			SELECT m.person_id, m.id FROM membership m
			WHERE m.org_id = $1 AND m.unit_id = u.id AND m.portal_id = $2 AND m.person_id > $4 AND m.role = 'learner' AND` + There + `
			ORDER BY m.person_id LIMIT $5) AS l
		ORDER BY l.person_id, l.id LIMIT $5`
	// Rides membership_by_portal.
	namedPeople = `
		SELECT DISTINCT ON (m.person_id) m.person_id, m.id FROM membership m
		WHERE m.org_id = $1 AND m.portal_id = $2 AND m.person_id = ANY($6) AND m.person_id > $4 AND` + There + `
		ORDER BY m.person_id, m.id LIMIT $5`
)

// candidates are the first of those whom the assignment is for, after one of them, in order.
func (a *Assignment) candidates(ctx context.Context, tx *tenant.Tx, after id.Person, limit int, now time.Time) ([]candidate, error) {
	var all []candidate
	add := func(sql string, of ...any) error {
		// The zero id would be NULL.
		found, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[candidate], sql, append([]any{tx.Org, a.Portal, now, uuid.UUID(after), limit}, of...)...)
		all = append(all, found...)
		return err
	}
	units, err := unit.Within(ctx, tx, a.Units)
	if err != nil {
		return nil, err
	}
	if a.Everyone {
		err = add(everyLearner)
	} else if len(units) > 0 {
		err = add(learnersOfUnits, units)
	}
	if err == nil && len(a.People) > 0 {
		err = add(namedPeople, a.People)
	}
	slices.SortStableFunc(all, byPerson)
	all = slices.CompactFunc(all, func(a, b candidate) bool { return a.Person == b.Person })
	return all[:min(len(all), limit)], err
}

// includes finds the place by which the assignment is for somebody; zero where it is not. It
// rides membership_by_portal.
func (a *Assignment) includes(ctx context.Context, tx *tenant.Tx, who id.Person, now time.Time) (place id.Membership, err error) {
	units, err := unit.Within(ctx, tx, a.Units)
	if err != nil {
		return place, err
	}
	found, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Membership], `
		SELECT m.id FROM membership m
		WHERE m.org_id = $1 AND m.portal_id = $2 AND m.person_id = $4 AND`+There+`
			AND ($5 OR m.role = 'learner' AND ($6 OR m.unit_id = ANY($7)))
		ORDER BY m.id LIMIT 1`, tx.Org, a.Portal, now, who, slices.Contains(a.People, who), a.Everyone, listed(units))
	if len(found) > 0 {
		place = found[0]
	}
	return place, err
}

// size counts those whom the assignment is for, once, when it is made. It rides
// membership_by_portal.
func (a *Assignment) size(ctx context.Context, tx *tenant.Tx, now time.Time) (n int64, err error) {
	units, err := unit.Within(ctx, tx, a.Units)
	if err != nil {
		return 0, err
	}
	return n, tx.QueryRow(ctx, `
		SELECT count(DISTINCT m.person_id) FROM membership m
		WHERE m.org_id = $1 AND m.portal_id = $2 AND`+There+`
			AND (m.role = 'learner' AND ($4 OR m.unit_id = ANY($5)) OR m.person_id = ANY($6))`,
		tx.Org, a.Portal, now, a.Everyone, listed(units), listed(a.People)).Scan(&n)
}
