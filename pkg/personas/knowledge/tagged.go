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
