package dashboard

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// ForgetPerson deletes what waits to be counted of somebody who is erased, and answers how much
// there was. What was counted is of six people or more, and stays. It rides
// dashboard_waiting_by_person.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (n int, err error) {
	found, err := tx.Query(ctx, `
		DELETE FROM dashboard_waiting WHERE org_id = $1 AND person_id = $2 RETURNING measure, portal_id, unit_id`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	var g group
	_, err = pgx.ForEachRow(found, []any{&g.measure, &g.portal, &g.unit}, func() error {
		tx.Touch("dashboard_waiting", word(g.measure), g.portal, g.unit, uuid.UUID(of))
		n++
		return nil
	})
	return n, err
}
