package unit

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Places is the name of the counter of an organization that counts how often the places of a
// portal changed: who has one, in which unit, in which role, until when. What is for the people
// of units looks again when it did.
func Places(p id.Portal) string { return "places " + uuid.UUID(p).String() }

// placesChanged counts a change with the commit.
type placesChanged id.Portal

// Queue is part of tenant.Write.
func (p placesChanged) Queue(tx *tenant.Tx, b *pgx.Batch) error {
	var now int64
	tx.QueueIncrement(b, Places(id.Portal(p)), 0, false, &now)
	return nil
}

// PlacesChanged notes that places of a portal changed in the transaction.
func PlacesChanged(tx *tenant.Tx, p id.Portal) {
	if !slices.Contains(tx.Closing(), tenant.Write(placesChanged(p))) {
		tx.AtCommit(placesChanged(p))
	}
}

// Within are some units and all that lie in them. It rides unit_pkey and unit_by_parent.
func Within(ctx context.Context, tx *tenant.Tx, of []id.Unit) ([]id.Unit, error) {
	if len(of) == 0 {
		return nil, nil
	}
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Unit], `
		WITH RECURSIVE within (id) AS (
			SELECT id FROM unit WHERE org_id = $1 AND id = ANY($2)
			UNION
			SELECT u.id FROM within w JOIN unit u ON u.org_id = $1 AND u.parent_id = w.id
		)
		SELECT id FROM within`, tx.Org, of)
}
