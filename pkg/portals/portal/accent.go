package portal

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// DefaultAccent is the color of portals, and of what goes with them, whose owner
// chose none.
const DefaultAccent = "#3355dd"

// AccentOf is the accent of the published portal on which a persona speaks, of the
// oldest where there are several, or else DefaultAccent. It rides
// portal_version_by_persona.
func AccentOf(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona) (string, error) {
	found, err := tenant.All(ctx, t, org, pgx.RowTo[string], `
		SELECT v.definition->'brand'->>'accent' FROM portal_version v
		JOIN portal p ON p.org_id = v.org_id AND p.id = v.portal_id AND p.published_version = v.version
		WHERE v.org_id = $1 AND v.persona_id = $2 AND p.state = $3 ORDER BY v.portal_id LIMIT 1`, org, p, Published)
	if err != nil || len(found) == 0 {
		return DefaultAccent, err
	}
	return found[0], nil
}
