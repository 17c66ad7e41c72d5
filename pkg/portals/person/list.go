package person

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/terms"
)

// Get finds a person with their places, newest first. The error is errdefs.NotFound or
// errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Person, now time.Time) (Person, []Standing, error) {
	var (
		found  []Person
		places []Standing
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scan)
			return err
		}, selectOne, org, p)
		queuePlaces(r, org, []id.Person{p}, now, &places)
	})
	one, err := one(Noun.NotFound(p), found, err)
	return one, places, err
}

func queuePlaces(r *tenant.Reads, org id.Org, of []id.Person, now time.Time, places *[]Standing) {
	r.Query(func(rows pgx.Rows) (err error) {
		*places, err = collect(rows, now)
		return err
	}, standingsByPerson, org, of)
}

// GetMembership finds how things stand with a place. The error is errdefs.NotFound
// or errdefs.Gone.
func GetMembership(ctx context.Context, t *tenant.Tenants, org id.Org, m id.Membership, now time.Time) (Standing, error) {
	var (
		found  []Standing
		exists bool
		one    int
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = collect(rows, now)
			return err
		}, standingsByMembership, org, m)
		r.QueryRow(&exists, []any{&one}, `SELECT 1 FROM membership WHERE org_id = $1 AND id = $2`, org, m)
	})
	switch {
	case err != nil:
		return Standing{}, err
	case len(found) > 0:
		return found[0], nil
	case exists:
		return Standing{}, removed(m)
	}
	return Standing{}, MembershipNoun.NotFound(m)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Portal id.Portal
	Unit   id.Unit
	State  State
	// Email is in the form of Address's key.
	Email      string
	ExternalID string
	// Query is the beginnings of words of a name, an address or an external id.
	Query string
}

// Finds says whether somebody can be found by the filter: not by a query without
// letters and digits.
func (f Filter) Finds() bool { return f.Query == "" || len(terms.Query(f.Query)) > 0 }

// statement chooses the statement that rides the narrowest index. Somebody with
// several places in a portal is listed once.
func (f Filter) statement(org id.Org, after id.Person, limit int) (sql string, args []any) {
	if after.IsZero() {
		after = id.Person(uuid.Max)
	}
	args = []any{org, after, limit, f.State, text(f.Email), text(f.ExternalID)}
	const (
		who = ` p.org_id = $1 AND p.state <> 'erased' AND ($4 = '' OR p.state = $4)
			AND ($5::TEXT IS NULL OR p.email_key = $5) AND ($6::TEXT IS NULL OR p.external_id = $6)`
		joined = ` FROM membership m JOIN person p ON p.org_id = m.org_id AND p.id = m.person_id
			WHERE m.org_id = $1 AND m.person_id < $2 AND m.removed_at IS NULL AND`
		last = ` ORDER BY m.person_id DESC LIMIT $3`
	)
	switch {
	case f.Query != "":
		asked := terms.Query(f.Query)
		return `SELECT ` + columns + ` FROM person_term t JOIN person p ON p.org_id = t.org_id AND p.id = t.person_id
			WHERE t.org_id = $1 AND t.term = $7 AND t.person_id < $2 AND` + who + `
				AND (SELECT count(*) FROM person_term o WHERE o.org_id = $1 AND o.term = ANY($8) AND o.person_id = t.person_id) = $9
				AND ($10::UUID IS NULL AND $11::UUID IS NULL OR EXISTS (
					SELECT 1 FROM membership m WHERE m.org_id = $1 AND m.person_id = t.person_id AND m.removed_at IS NULL
						AND ($10::UUID IS NULL OR m.portal_id = $10) AND ($11::UUID IS NULL OR m.unit_id = $11)))
			ORDER BY t.person_id DESC LIMIT $3`, append(args, asked[0], asked[1:], len(asked)-1, f.Portal, f.Unit)
	case !f.Unit.IsZero():
		return `SELECT DISTINCT ON (m.person_id) ` + columns + joined + who + ` AND m.unit_id = $7 AND ($8::UUID IS NULL OR m.portal_id = $8)` + last,
			append(args, f.Unit, f.Portal)
	case !f.Portal.IsZero():
		return `SELECT DISTINCT ON (m.person_id) ` + columns + joined + who + ` AND m.portal_id = $7` + last, append(args, f.Portal)
	}
	sql = `SELECT ` + columns + ` FROM person p WHERE` + who + ` AND p.id < $2`
	if f.Email != "" {
		sql += ` AND p.email_key = $5`
	}
	if f.ExternalID != "" {
		sql += ` AND p.external_id = $6`
	}
	return sql + ` ORDER BY p.id DESC LIMIT $3`, args
}

// text is a filter's text; nil for none.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// With is a person with their places.
type With struct {
	Person Person
	Places []Standing
}

// List is a page of the people, newest first, after one of them; the zero id for
// the first page. It rides person_pkey, or, where that is asked for,
// person_by_email, person_by_external, membership_by_unit, membership_by_portal or
// person_term_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Person, limit int, now time.Time) ([]With, error) {
	if !f.Finds() {
		return nil, nil
	}
	sql, args := f.statement(org, after, limit)
	var (
		found  []Person
		places []Standing
	)
	if err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scan)
			return err
		}, sql, args...)
	}); err != nil || len(found) == 0 {
		return nil, err
	}
	ids := make([]id.Person, len(found))
	for i, p := range found {
		ids[i] = p.ID
	}
	if err := t.Read(ctx, org, func(r *tenant.Reads) { queuePlaces(r, org, ids, now, &places) }); err != nil {
		return nil, err
	}
	return together(found, places), nil
}

// together gives each person their places.
func together(people []Person, places []Standing) []With {
	of := map[id.Person][]Standing{}
	for _, s := range places {
		of[s.Membership.Person] = append(of[s.Membership.Person], s)
	}
	all := make([]With, len(people))
	for i, p := range people {
		all[i] = With{p, of[p.ID]}
	}
	return all
}
