package subject

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// subjectBase locks the pack of a locked portal's subjects. Where there is none
// yet, or it was deleted, one is made if it is needed; otherwise the answer is the
// zero id. It is part of the portal: no plan keeps it from being there.
func subjectBase(ctx context.Context, tx *tenant.Tx, p portal.Portal, needed bool, who Author) (id.KnowledgeBase, error) {
	if had := p.Definition.SubjectBaseID; had != nil {
		_, err := knowledge.LockBase(ctx, tx, *had)
		if err == nil {
			return *had, nil
		}
		if !errors.Is(err, knowledge.ErrUnknown) && !errors.Is(err, knowledge.ErrGone) {
			return id.KnowledgeBase{}, err
		}
	}
	if !needed {
		return id.KnowledgeBase{}, nil
	}
	b := knowledge.Base{ID: id.NewKnowledgeBase(), Name: p.Name + ": subjects", CreatedAt: who.At, UpdatedAt: who.At}
	if _, err := knowledge.InsertBase(ctx, tx, b, plan.Terms{}, who.Unlogged()); err != nil {
		return b.ID, err
	}
	if err := knowledge.UsedByPortal(ctx, tx, b.ID, p.ID); err != nil {
		return b.ID, err
	}
	return b.ID, adopt(ctx, tx, p, b.ID)
}

// adopt notes the pack in the portal's draft and in what visitors see, neither of
// which becomes another version by it.
func adopt(ctx context.Context, tx *tenant.Tx, p portal.Portal, base id.KnowledgeBase) error {
	tx.Touch("portal", p.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE portal SET definition = jsonb_set(definition, '{subjectBaseId}', to_jsonb($3::TEXT)) WHERE org_id = $1 AND id = $2`,
		tx.Org, p.ID, base.String()); err != nil {
		return err
	}
	if p.PublishedVersion != nil {
		tx.Touch("portal_version", p.ID, number(*p.PublishedVersion))
		if _, err := tx.Exec(ctx, `
			UPDATE portal_version SET definition = jsonb_set(definition, '{subjectBaseId}', to_jsonb($4::TEXT))
			WHERE org_id = $1 AND portal_id = $2 AND version = $3`, tx.Org, p.ID, *p.PublishedVersion, base.String()); err != nil {
			return err
		}
	}
	return portal.Refresh(ctx, tx, p.ID)
}
