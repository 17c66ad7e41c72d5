package person

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

const columns = `id, name, given_name, family_name, email, phone, external_id, language, timezone, age_band, state, last_seen_at,
	metadata, edition, created_at, updated_at, erased_at`

func scan(row pgx.CollectableRow) (Person, error) { return pgx.RowToStructByPos[Person](row) }

// Find finds a person in a transaction. The error is ErrUnknown or ErrErased.
func Find(ctx context.Context, tx *tenant.Tx, p id.Person) (Person, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM person WHERE org_id = $1 AND id = $2`, tx.Org, p)
	if err != nil {
		return Person{}, err
	}
	found, err := pgx.CollectRows(rows, scan)
	switch {
	case err != nil:
		return Person{}, err
	case len(found) == 0:
		return Person{}, ErrUnknown
	case found[0].State == Erased:
		return found[0], ErrErased
	}
	return found[0], nil
}

const membershipColumns = `id, person_id, portal_id, unit_id, role, enabled, starts_at, ends_at, consent_id, door, last_sign_in_at,
	external_id, metadata, edition, created_at, updated_at`

func scanMembership(row pgx.CollectableRow) (Membership, error) {
	return pgx.RowToStructByPos[Membership](row)
}

// FindMembership finds a place in a transaction. The error is ErrNoMembership.
func FindMembership(ctx context.Context, tx *tenant.Tx, m id.Membership) (Membership, error) {
	rows, err := tx.Query(ctx, `SELECT `+membershipColumns+` FROM membership WHERE org_id = $1 AND id = $2`, tx.Org, m)
	if err != nil {
		return Membership{}, err
	}
	found, err := pgx.CollectRows(rows, scanMembership)
	if err == nil && len(found) == 0 {
		err = ErrNoMembership
	}
	if err != nil {
		return Membership{}, err
	}
	return found[0], nil
}
