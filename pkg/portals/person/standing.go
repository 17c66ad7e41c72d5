package person

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// Standing is how things stand with a place: whether it can be used now, and
// what that depends on.
type Standing struct {
	Membership Membership
	Person     Person
	// Portal is where the portal stands, which Usable leaves to the caller.
	Portal portal.State
	// Usable says whether the person may come in by the place, and Reason why not.
	Usable   bool
	Reason   Reason
	State    MemberState
	Guardian Guardian
}

// MemberState is where a place stands.
type MemberState string

// The states. Somebody is invited until they begin.
const (
	MemberInvited  MemberState = "invited"
	MemberActive   MemberState = "active"
	MemberDisabled MemberState = "disabled"
	MemberEnded    MemberState = "ended"
)

// Guardian is how things stand with the consent of guardians.
type Guardian struct {
	Required bool
	consent.Agreement
}

// ConsentMissing is the state of a guardian's consent that was never given or is over.
const ConsentMissing = consent.Missing

// facts are what a standing is judged by, as they are read.
type facts struct {
	Membership
	Person
	Portal portal.State
	// MinAge is how old somebody must be to come in, and Under the age below which
	// a guardian must agree; nil for none.
	MinAge, Under *int64
	// Lit says whether the units above are all switched on.
	Lit bool
	// Words are the guardians' consents that count.
	Words []consent.Word
}

// factColumns are the facts, in their order.
const factColumns = membershipColumns + `, ` + columns + `, o.state,
			(COALESCE(v.definition, o.definition)->>'minAge')::BIGINT,
			(COALESCE(v.definition, o.definition)->>'guardianConsentUnder')::BIGINT, COALESCE(s.lit, true), ` + consent.Words

// standings reads the facts of places; which says of which, by $2. The rules of
// a portal are those that visitors see, or the draft's before there are any.
func standings(which string) string {
	return `
		WITH RECURSIVE m AS (SELECT * FROM membership WHERE org_id = $1 AND removed_at IS NULL AND ` + which + `),
		above (unit, parent_id, enabled) AS (
			SELECT id, parent_id, enabled FROM unit WHERE org_id = $1 AND id IN (SELECT unit_id FROM m)
			UNION ALL
			SELECT a.unit, u.parent_id, u.enabled FROM above a JOIN unit u ON u.org_id = $1 AND u.id = a.parent_id
		),
		switches AS (SELECT unit, bool_and(enabled) AS lit FROM above GROUP BY unit)
		SELECT ` + factColumns + `
		FROM m JOIN person p ON p.org_id = $1 AND p.id = m.person_id
			JOIN portal o ON o.org_id = $1 AND o.id = m.portal_id
			LEFT JOIN portal_version v ON v.org_id = $1 AND v.portal_id = o.id AND v.version = o.published_version
			LEFT JOIN switches s ON s.unit = m.unit_id
		ORDER BY m.id DESC`
}

var (
	standingsByMembership = standings(`id = $2`)                                                             // rides membership_pkey
	standingsByPerson     = standings(`person_id = ANY($2)`)                                                 // rides membership_by_person
	standingsOnPortal     = standings(`person_id = $2 AND portal_id = $3 AND ($4::UUID IS NULL OR id = $4)`) // rides membership_by_portal
)

// collect reads facts and judges them.
func collect(rows pgx.Rows, now time.Time) ([]Standing, error) {
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[facts])
	standings := make([]Standing, len(found))
	for i, f := range found {
		standings[i] = f.judge(now)
	}
	return standings, err
}

// judge says how things stand at a moment.
func (f facts) judge(now time.Time) Standing {
	m, p := f.Membership, f.Person
	s := Standing{Membership: m, Person: p, Portal: f.Portal, Guardian: f.guardian(now)}
	early, over := m.StartsAt != nil && now.Before(*m.StartsAt), m.EndsAt != nil && !now.Before(*m.EndsAt)
	switch {
	case p.State == Erased:
		s.Reason = WasErased
	case p.State == Disabled:
		s.Reason = PersonDisabled
	case !m.Enabled || !f.Lit:
		s.Reason = MembershipDisabled
	case early:
		s.Reason = NotStarted
	case over:
		s.Reason = MembershipEnded
	case f.MinAge != nil && p.AgeBand.Oldest() < *f.MinAge:
		s.Reason = TooYoung
	case s.Guardian.Required && !s.Guardian.Covers(consent.ToConverse):
		s.Reason = GuardianConsentMissing
	}
	s.Usable = s.Reason == ""
	switch {
	case over || p.State == Erased:
		s.State = MemberEnded
	case p.State == Disabled || !m.Enabled || !f.Lit:
		s.State = MemberDisabled
	case early || p.State == Invited:
		s.State = MemberInvited
	default:
		s.State = MemberActive
	}
	return s
}

// guardian says how things stand with guardians' consent. It is required of
// a minor who may be younger than the portal's age.
func (f facts) guardian(now time.Time) Guardian {
	return Guardian{
		Required:  f.Under != nil && f.AgeBand.Minor() && f.AgeBand.Youngest() < *f.Under,
		Agreement: consent.Agree(f.Words, now),
	}
}

// Effective says how things stand with a place. The error is errdefs.NotFound or
// errdefs.Gone.
func Effective(ctx context.Context, tx *tenant.Tx, m id.Membership, now time.Time) (Standing, error) {
	rows, err := tx.Query(ctx, standingsByMembership, tx.Org, m)
	if err != nil {
		return Standing{}, err
	}
	found, err := collect(rows, now)
	if err != nil {
		return Standing{}, err
	}
	if len(found) == 0 {
		if _, err := FindMembership(ctx, tx, m); err != nil {
			return Standing{}, err
		}
		return Standing{}, MembershipNoun.NotFound(m)
	}
	return found[0], nil
}

// Places are how things stand with a person's places, newest first.
func Places(ctx context.Context, tx *tenant.Tx, p id.Person, now time.Time) ([]Standing, error) {
	return PlacesOf(ctx, tx, []id.Person{p}, now)
}

// PlacesOf are how things stand with the places of several people, newest first. It rides
// membership_by_person.
func PlacesOf(ctx context.Context, tx *tenant.Tx, of []id.Person, now time.Time) ([]Standing, error) {
	rows, err := tx.Query(ctx, standingsByPerson, tx.Org, of)
	if err != nil {
		return nil, err
	}
	return collect(rows, now)
}
