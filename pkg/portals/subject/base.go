package subject

import (
	"context"

	"visavis.dev/pkg/base/errdefs"
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
		if !errdefs.IsAbsent(err, knowledge.BaseNoun) {
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
	if err := knowledge.SetUses(ctx, tx, knowledge.ByPortal(p.ID), nil, []id.KnowledgeBase{b.ID}); err != nil {
		return b.ID, err
	}
	return b.ID, portal.SetSubjectBase(ctx, tx, p, b.ID)
}
