// Package organization makes organizations, which takes the directory and a
// shard, and gives them what they have beyond their plan.
package organization

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Create makes an organization on its shard. A run that broke off can be
// repeated with the same organization.
func Create(ctx context.Context, d *directory.Directory, t *tenant.Tenants, o directory.Organization) error {
	db, err := t.Shard(ctx, o.Shard)
	if err != nil {
		return err
	}
	if err := d.Begin(ctx, o); err != nil {
		return err
	}
	var b pgx.Batch
	b.Queue(`INSERT INTO event_turn (org_id) VALUES ($1) ON CONFLICT (org_id) DO NOTHING`, o.ID)
	b.Queue(`
		INSERT INTO org_fence (org_id, epoch, state, moved_to) VALUES ($1, $2, 'open', '')
		ON CONFLICT (org_id) DO NOTHING`, o.ID, o.Epoch)
	if err := db.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("open on shard %s: %w", o.Shard, err)
	}
	return d.Activate(ctx, o.ID)
}

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

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// Slug makes a slug of a name: lower-case ASCII letters, digits and hyphens.
func Slug(name string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
}
