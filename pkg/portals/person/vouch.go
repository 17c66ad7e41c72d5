package person

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/store/tenant"
)

// ByAddress finds somebody by their e-mail address, in the form that tells two apart.
// It rides person_by_email. The error is errdefs.NotFound or errdefs.Gone.
func ByAddress(ctx context.Context, tx *tenant.Tx, key string) (Person, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM person p WHERE p.org_id = $1 AND p.email_key = $2`, tx.Org, key)
	if err != nil {
		return Person{}, err
	}
	found, err := pgx.CollectRows(rows, scan)
	return one(errdefs.NotFound{Noun: Noun}, found, err)
}

// Vouch notes that the address of somebody who is locked is theirs. Whoever came by
// it until now may be somebody else, and is signed out.
func Vouch(ctx context.Context, tx *tenant.Tx, p Person, who Author) (Person, error) {
	if !p.Claimed {
		return p, nil
	}
	if err := signOut(ctx, tx, p.ID); err != nil {
		return p, err
	}
	p.Claimed, p.Edition, p.UpdatedAt = false, p.Edition+1, who.At
	return p, p.save(ctx, tx)
}
