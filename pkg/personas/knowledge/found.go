package knowledge

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// texts reads the passages that were found, in one trip; whole says that all
// of them are still there.
func (s *Searcher) texts(ctx context.Context, org id.Org, hits []ranked) (found []Passage, whole bool, err error) {
	if len(hits) == 0 {
		return nil, true, nil
	}
	wanted := make([]id.Chunk, len(hits))
	for i, h := range hits {
		wanted[i] = h.passage
	}
	var read map[id.Chunk]Passage
	err = s.tenants.Read(ctx, org, func(r *tenant.Reads) {
		read = map[id.Chunk]Passage{}
		r.Query(func(rows pgx.Rows) error {
			var p Passage
			_, err := pgx.ForEachRow(rows, []any{
				&p.Document, &p.Base, &p.Chunk, &p.Title, &p.Heading, &p.Text, &p.Language, &p.Page, &p.URL, &p.Position,
			}, func() error {
				read[p.Chunk] = p
				return nil
			})
			return err
		}, selectTexts, org, wanted)
	})
	for _, h := range hits {
		if p, ok := read[h.passage]; ok {
			p.Score = h.score
			found = append(found, p)
		}
	}
	return found, len(found) == len(hits), err
}

// selectTexts rides knowledge_chunk_by_id.
const selectTexts = `
	SELECT d.id, d.base_id, c.id, d.title, c.heading, c.text, COALESCE(d.language, ''), c.page, c.url, c.position
	FROM knowledge_chunk c
	JOIN knowledge_document d ON d.org_id = c.org_id AND d.id = c.document_id AND d.generation = c.generation AND d.deleted_at IS NULL
	JOIN knowledge_base b ON b.org_id = d.org_id AND b.id = d.base_id AND b.deleted_at IS NULL
	WHERE c.org_id = $1 AND c.id = ANY($2)`
