package person

import (
	"context"

	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
)

// TellsOfErased says whether an answer names somebody who was erased, or a place of
// theirs. It holds from the commit of the erasure on, while the answers that are kept are
// still searched for them. It rides person_pkey and membership_pkey.
func TellsOfErased(ctx context.Context, tx *tenant.Tx, answer []byte) (bool, error) {
	return idempotency.Names(ctx, tx, answer, `
		SELECT 1 FROM person p WHERE p.org_id = $1 AND p.id = ANY($2) AND p.state = 'erased'
		UNION ALL
		SELECT 1 FROM membership m JOIN person p ON p.org_id = m.org_id AND p.id = m.person_id
		WHERE m.org_id = $1 AND m.id = ANY($2) AND p.state = 'erased'
		LIMIT 1`)
}
