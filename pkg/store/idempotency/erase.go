package idempotency

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Place is a place among the answers that are kept; the zero one is before them all.
type Place struct {
	Key    id.Key `json:"key"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Client string `json:"client"`
}

// erasedAtOnce is how many answers are searched at once: some megabytes.
const erasedAtOnce = 2000

// Erase empties those of some answers that have one of some ids, as they stand in texts
// without their prefixes, and says where to go on; nil after the last. Repeating their
// requests has no effect, as before, and is answered ErrErased. What is sealed for its
// caller alone has ids and secrets and no words. It rides idempotency_record_pkey; the
// records are those of a day.
func Erase(ctx context.Context, tx *tenant.Tx, of []string, from Place) (next *Place, err error) {
	needles := make([][]byte, len(of))
	for i, bare := range of {
		needles[i] = []byte(bare)
	}
	var last Place
	err = tx.QueryRow(ctx, `
		SELECT key_id, method, path, client_key FROM idempotency_record
		WHERE org_id = $1 AND (key_id, method, path, client_key) > (COALESCE($2::UUID, '00000000-0000-0000-0000-000000000000'), $3, $4, $5)
		ORDER BY key_id, method, path, client_key LIMIT 1 OFFSET $6`,
		tx.Org, from.Key, from.Method, from.Path, from.Client, erasedAtOnce-1).Scan(&last.Key, &last.Method, &last.Path, &last.Client)
	whole := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !whole {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		UPDATE idempotency_record SET answer = '', state = 'erased'
		WHERE org_id = $1 AND state = 'done'
			AND (key_id, method, path, client_key) > (COALESCE($3::UUID, '00000000-0000-0000-0000-000000000000'), $4, $5, $6)
			AND ($7 OR (key_id, method, path, client_key) <= (COALESCE($8::UUID, '00000000-0000-0000-0000-000000000000'), $9, $10, $11))
			AND EXISTS (SELECT 1 FROM unnest($2::BYTEA[]) AS n (needle) WHERE position(n.needle IN answer) > 0)
		RETURNING key_id, method, path, client_key`,
		tx.Org, needles, from.Key, from.Method, from.Path, from.Client, whole, last.Key, last.Method, last.Path, last.Client)
	if err != nil {
		return nil, err
	}
	var one Place
	if _, err := pgx.ForEachRow(rows, []any{&one.Key, &one.Method, &one.Path, &one.Client}, func() error {
		tx.Touch("idempotency_record", one.Key, text(one.Method), text(one.Path), text(one.Client))
		return nil
	}); err != nil || whole {
		return nil, err
	}
	return &last, nil
}
