package setup

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Checklist says which of what an organization needs it has.
type Checklist struct {
	// Persona is made, and Knowledge read.
	Persona, Knowledge bool
	// Portal is made, Published shown to people, and Door open to one that is.
	Portal, Published, Door bool
	// Webhook is told of events, and Model connected and working.
	Webhook, Model bool
}

// Check reads it, all as of one moment. Each part looks for one row of a table's
// primary key.
func Check(ctx context.Context, t *tenant.Tenants, org id.Org) (Checklist, error) {
	var c Checklist
	var there bool
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&there, []any{&c.Persona, &c.Knowledge, &c.Portal, &c.Published, &c.Door, &c.Webhook, &c.Model}, `
			SELECT
				EXISTS (SELECT 1 FROM persona WHERE org_id = $1 AND deleted_at IS NULL),
				EXISTS (SELECT 1 FROM knowledge_base WHERE org_id = $1 AND deleted_at IS NULL AND ready > 0),
				EXISTS (SELECT 1 FROM portal WHERE org_id = $1 AND archived_at IS NULL),
				EXISTS (SELECT 1 FROM portal WHERE org_id = $1 AND state = 'published'),
				EXISTS (SELECT 1 FROM portal_door d JOIN portal p ON p.org_id = d.org_id AND p.id = d.portal_id
					WHERE d.org_id = $1 AND d.open AND p.state = 'published'),
				EXISTS (SELECT 1 FROM webhook WHERE org_id = $1 AND deleted_at IS NULL AND active AND paused_at IS NULL),
				EXISTS (SELECT 1 FROM connection WHERE org_id = $1 AND deleted_at IS NULL AND kind = 'model' AND state = 'active')`, org)
	})
	return c, err
}
