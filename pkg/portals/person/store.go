package person

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// columns are a Person's, of person p, in its order.
const columns = `p.id, p.name, p.given_name, p.family_name, p.email, p.phone, p.external_id, p.language, p.timezone, p.age_band, p.state,
	p.last_seen_at, p.metadata, p.edition, p.created_at, p.updated_at, p.erased_at, p.claimed`

func scan(row pgx.CollectableRow) (Person, error) { return pgx.RowToStructByPos[Person](row) }

// one is the person that a query for one found, or the error for none.
func one(missing error, found []Person, err error) (Person, error) {
	switch {
	case err != nil:
		return Person{}, err
	case len(found) == 0:
		return Person{}, missing
	case found[0].State == Erased:
		return found[0], erased(found[0].ID)
	}
	return found[0], nil
}

const selectOne = `SELECT ` + columns + ` FROM person p WHERE p.org_id = $1 AND p.id = $2`

// Find finds a person in a transaction. The error is errdefs.NotFound or errdefs.Gone.
func Find(ctx context.Context, tx *tenant.Tx, p id.Person) (Person, error) {
	found, err := tenant.AllIn(ctx, tx, scan, selectOne, tx.Org, p)
	return one(Noun.NotFound(p), found, err)
}

// Lock is Find for a transaction that will change the person or what they have:
// nobody else does until the commit. The error is errdefs.NotFound or errdefs.Gone.
func Lock(ctx context.Context, tx *tenant.Tx, p id.Person) (Person, error) {
	if _, err := tx.Exec(ctx, `SELECT 1 FROM person WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, p); err != nil {
		return Person{}, err
	}
	return Find(ctx, tx, p)
}

// membershipColumns are a Membership's, of membership m, in its order.
const membershipColumns = `m.id, m.person_id, m.portal_id, m.unit_id, m.role, m.enabled, m.starts_at, m.ends_at, m.consent_id, m.door,
	m.last_sign_in_at, m.external_id, m.metadata, m.edition, m.created_at, m.updated_at, m.removed_at, m.told_on`

func scanMembership(row pgx.CollectableRow) (Membership, error) {
	return pgx.RowToStructByPos[Membership](row)
}

// FindMembership finds a place in a transaction. The error is errdefs.NotFound or
// errdefs.Gone.
func FindMembership(ctx context.Context, tx *tenant.Tx, m id.Membership) (Membership, error) {
	rows, err := tx.Query(ctx, `SELECT `+membershipColumns+` FROM membership m WHERE m.org_id = $1 AND m.id = $2`, tx.Org, m)
	if err != nil {
		return Membership{}, err
	}
	found, err := pgx.CollectRows(rows, scanMembership)
	switch {
	case err != nil:
		return Membership{}, err
	case len(found) == 0:
		return Membership{}, MembershipNoun.NotFound(m)
	case found[0].RemovedAt != nil:
		return found[0], removed(m)
	}
	return found[0], nil
}

// LockMembership is FindMembership for a transaction that will change the place:
// until the commit nobody else changes it, or the person, or a switch of its
// portal's units. Portals are locked before people, everywhere.
func LockMembership(ctx context.Context, tx *tenant.Tx, which id.Membership) (Membership, error) {
	m, err := FindMembership(ctx, tx, which)
	if err != nil {
		return m, err
	}
	if err := sharePortals(ctx, tx, m.Portal); err != nil {
		return m, err
	}
	if _, err := Lock(ctx, tx, m.Person); err != nil {
		return m, err
	}
	return FindMembership(ctx, tx, which)
}

// Hold keeps the switches in a portal as they are until the commit, for a place
// that is to be given there to somebody who is locked after it. The error is
// errdefs.NotFound or errdefs.Archived.
func Hold(ctx context.Context, tx *tenant.Tx, p id.Portal) error {
	if err := sharePortals(ctx, tx, p); err != nil {
		return err
	}
	found, err := portal.Find(ctx, tx, p)
	if err == nil && found.State == portal.Archived {
		err = portal.Noun.Archived(p)
	}
	return err
}

// sharePortals keeps the switches in the trees of portals as they are until the
// commit; whoever changes one holds the portal (package unit).
func sharePortals(ctx context.Context, tx *tenant.Tx, portals ...id.Portal) error {
	_, err := tx.Exec(ctx, `SELECT 1 FROM portal WHERE org_id = $1 AND id = ANY($2) ORDER BY id FOR SHARE`, tx.Org, portals)
	return err
}
