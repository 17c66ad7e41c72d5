package portal

import (
	"context"
	"fmt"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/tenant"
)

// holdPersona refuses a speaker that the organization does not have, and keeps the
// one it has from being deleted until the commit.
func holdPersona(ctx context.Context, tx *tenant.Tx, p id.Persona) error {
	_, err := persona.Lock(ctx, tx, p)
	if errdefs.IsAbsent(err, persona.Noun) {
		return invalid("personaId", "is not a persona of this organization")
	}
	return err
}

// holdPacks does so with packs.
func holdPacks(ctx context.Context, tx *tenant.Tx, packs []id.KnowledgeBase) error {
	for i, base := range packs {
		tag, err := tx.Exec(ctx, `
			SELECT 1 FROM knowledge_base WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`, tx.Org, base)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return invalid(fmt.Sprintf("knowledgeBaseIds[%d]", i), "is not a knowledge pack of this organization")
		}
	}
	return nil
}

// packs are those that a portal answers from: its draft's, which is to be tried,
// and those of what visitors see.
func (p *Portal) packs(ctx context.Context, tx *tenant.Tx) ([]id.KnowledgeBase, error) {
	named := slices.Clone(p.Definition.KnowledgeBaseIDs)
	if p.State == Archived {
		return nil, nil
	}
	if p.PublishedVersion != nil {
		v, err := FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
		if err != nil {
			return nil, err
		}
		named = append(named, v.Definition.KnowledgeBaseIDs...)
	}
	return once(named), nil
}
