package knowledge

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Tagged lists the documents with a tag in a pack that LockBase found. It rides
// knowledge_document_by_base.
func Tagged(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase, tag string) ([]Document, error) {
	return tenant.AllIn(ctx, tx, scanDocument, selectDocument+`
		WHERE d.org_id = $1 AND d.base_id = $2 AND d.deleted_at IS NULL AND $3::TEXT = ANY(d.tags) ORDER BY d.id`, tx.Org, b, tag)
}

// UsedByPortal notes that a portal answers from a pack that LockBase found, so
// that it is not deleted meanwhile.
func UsedByPortal(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase, p id.Portal) error {
	tx.Touch("knowledge_use", b, word("portal"), p)
	_, err := tx.Exec(ctx, `
		INSERT INTO knowledge_use (org_id, base_id, user_kind, user_id) VALUES ($1, $2, 'portal', $3)
		ON CONFLICT (org_id, base_id, user_kind, user_id) DO NOTHING`, tx.Org, b, p)
	return err
}

// word is a word that is part of a row's key.
type word string

func (w word) String() string { return string(w) }
