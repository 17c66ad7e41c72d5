package session

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// OfPerson lists sessions of a person after one of them, in the order of their
// ids; the zero id for the first. It rides session_by_person.
func OfPerson(ctx context.Context, tx *tenant.Tx, p id.Person, after id.Session, limit int) ([]Session, error) {
	return tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM session WHERE org_id = $1 AND person_id = $2 AND ($3::UUID IS NULL OR id > $3) ORDER BY id LIMIT $4`,
		tx.Org, p, after, limit)
}

// Held says whether a session of a person is on hold, so that none of its words
// may be deleted. It rides session_by_person.
func Held(ctx context.Context, tx *tenant.Tx, p id.Person) (held bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM session WHERE org_id = $1 AND person_id = $2 AND on_hold)`, tx.Org, p).Scan(&held)
	return held, err
}
