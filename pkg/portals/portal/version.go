package portal

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// Publish shows visitors the draft of a portal that Lock found. Whether it may be
// shown is package launch's to say.
func Publish(ctx context.Context, tx *tenant.Tx, p Portal, note *string, who Author) (Portal, error) {
	before, err := p.packs(ctx, tx)
	if err != nil {
		return p, err
	}
	// A draft that was published before and did not change since is there already.
	tx.Touch("portal_version", p.ID, number(p.DraftVersion))
	if _, err := tx.Exec(ctx, `
		INSERT INTO portal_version (org_id, portal_id, version, name, persona_id, definition, published_at, published_by, change_note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (org_id, portal_id, version) DO NOTHING`,
		tx.Org, p.ID, p.DraftVersion, p.Name, p.Persona, p.Definition, who.At, who.By, note); err != nil {
		return p, err
	}
	p.State, p.PublishedVersion, p.PublishedAt, p.UpdatedAt = Published, new(p.DraftVersion), &who.At, who.At
	p.PageStamp++
	if err := p.save(ctx, tx); err != nil {
		return p, err
	}
	return p, knowledge.SetUses(ctx, tx, knowledge.ByPortal(p.ID), before, p.Definition.KnowledgeBaseIDs)
}

// Versions is a page of a portal's published versions, newest first, before one of
// them; zero for the first page. It rides portal_version_pkey.
func Versions(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal, before int64, limit int) ([]Version, error) {
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Version], `
		SELECT `+versionColumns+` FROM portal_version
		WHERE org_id = $1 AND portal_id = $2 AND ($3 = 0 OR version < $3) ORDER BY version DESC LIMIT $4`, org, p, before, limit)
}
