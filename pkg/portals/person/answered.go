package person

import (
	"context"
	"errors"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// identifier is an id as it stands in a text, with or without its prefix.
var identifier = regexp.MustCompile(`(?:\b|_)[0-9A-Za-z]{22}\b`)

// TellsOfErased says whether an answer names somebody who was erased, or a place of
// theirs. It holds from the commit of the erasure on, while the answers that are kept are
// still searched for them. It rides person_pkey and membership_pkey.
func TellsOfErased(ctx context.Context, tx *tenant.Tx, answer []byte) (bool, error) {
	var named []uuid.UUID
	for _, text := range identifier.FindAll(answer, -1) {
		if u, err := id.UUIDOf(string(text)); err == nil {
			named = append(named, u)
		}
	}
	if len(named) == 0 {
		return false, nil
	}
	var one int64
	err := tx.QueryRow(ctx, `
		SELECT 1 FROM person p WHERE p.org_id = $1 AND p.id = ANY($2) AND p.state = 'erased'
		UNION ALL
		SELECT 1 FROM membership m JOIN person p ON p.org_id = m.org_id AND p.id = m.person_id
		WHERE m.org_id = $1 AND m.id = ANY($2) AND p.state = 'erased'
		LIMIT 1`, tx.Org, named).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
