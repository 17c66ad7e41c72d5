// Package organization makes organizations, which takes the directory and a
// shard.
package organization

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

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

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// Slug makes a slug of a name: lower-case ASCII letters, digits and hyphens.
func Slug(name string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
}
