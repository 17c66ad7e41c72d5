package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// GrantMinutes gives an organization prepaid minutes; expires may be nil. The
// same grant made again changes nothing.
func GrantMinutes(ctx context.Context, t *tenant.Tenants, org id.Org, grant uuid.UUID, minutes int64, at time.Time, expires *time.Time) error {
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("minute_grant", grant)
		_, err := tx.Exec(ctx, `
			INSERT INTO minute_grant (org_id, id, seconds, remaining_s, granted_at, expires_at)
			VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (org_id, id) DO NOTHING`,
			org, grant, minutes*60, at, expires)
		return err
	}, tenant.Idempotent(true))
}
