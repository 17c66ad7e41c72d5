package idempotency

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

// Names says whether a query finds something by the ids that stand in an answer. Its arguments are
// the organization and the ids, as a list of UUIDs; it is not made for an answer without any.
func Names(ctx context.Context, tx *tenant.Tx, answer []byte, query string) (bool, error) {
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
	err := tx.QueryRow(ctx, query, tx.Org, named).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
