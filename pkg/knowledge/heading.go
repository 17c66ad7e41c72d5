package knowledge

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

const (
	// mostHeadings bounds what Headings answers, and headedDocuments how many documents
	// of a pack it reads, with so many passages at most.
	mostHeadings    = 100
	headedDocuments = 20
	headedPassages  = 400
)

// Headings are the headings of the passages of packs, in the order of the documents and
// of the passages, each once: of the first documents, some at most. Where a document has
// none its title stands for them.
func (s *Searcher) Headings(ctx context.Context, org id.Org, bases []id.KnowledgeBase, tags []string) ([]string, error) {
	var out []string
	err := s.tenants.Read(ctx, org, func(r *tenant.Reads) {
		seen := map[string]bool{}
		out = nil
		for _, base := range bases {
			r.Query(func(rows pgx.Rows) error {
				var title, heading string
				_, err := pgx.ForEachRow(rows, []any{&title, &heading}, func() error {
					if heading == "" {
						heading = title
					}
					if !seen[heading] && heading != "" && len(out) < mostHeadings {
						seen[heading] = true
						out = append(out, heading)
					}
					return nil
				})
				return err
			}, selectHeadings, org, base, tags, headedDocuments, headedPassages)
		}
	})
	return out, err
}

// selectHeadings rides knowledge_document_by_base and, for each document,
// knowledge_chunk_pkey.
const selectHeadings = `
	SELECT d.title, c.heading
	FROM (
		SELECT org_id, id, title, generation FROM knowledge_document
		WHERE org_id = $1 AND base_id = $2 AND deleted_at IS NULL AND chunks > 0 AND (COALESCE(cardinality($3::TEXT[]), 0) = 0 OR tags && $3::TEXT[])
		ORDER BY id LIMIT $4
	) d
	JOIN knowledge_chunk c ON c.org_id = d.org_id AND c.document_id = d.id AND c.generation = d.generation
	ORDER BY d.id, c.position LIMIT $5`
