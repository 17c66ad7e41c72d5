package knowledge

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const (
	// mostHeadings bounds what Headings answers, headedDocuments how many documents of a
	// pack it reads, and headedPassages how many passages of each.
	mostHeadings    = 100
	headedDocuments = 20
	headedPassages  = 100
)

// Headings are the headings of the passages of packs, in the order of the documents and
// of the passages, each once: of the newest documents with one of the tags, some at most.
// Where a document has none its title stands for them. Packs that are gone have none.
// Where some documents are in a language, those in others are left out.
func (s *Searcher) Headings(ctx context.Context, org id.Org, bases []id.KnowledgeBase, tags []string, language string) ([]string, error) {
	var documents []Document
	for _, base := range bases {
		some, err := ListDocuments(ctx, s.tenants, org, base, Filter{Status: Ready}, id.Document{}, headedDocuments)
		if err != nil && !errdefs.IsAbsent(err, BaseNoun) {
			return nil, err
		}
		slices.Reverse(some)
		documents = append(documents, some...)
	}
	documents = slices.DeleteFunc(documents, func(d Document) bool {
		return len(tags) > 0 && !slices.ContainsFunc(d.Tags, func(t string) bool { return slices.Contains(tags, t) })
	})
	documents = inLanguage(documents, language)
	var out []string
	err := s.tenants.Read(ctx, org, func(r *tenant.Reads) {
		out = nil
		for i := range documents {
			d := &documents[i]
			r.Query(func(rows pgx.Rows) error {
				found, err := pgx.CollectRows(rows, pgx.RowTo[string])
				for _, heading := range found {
					if heading == "" {
						heading = d.Title
					}
					if heading != "" && len(out) < mostHeadings && !slices.Contains(out, heading) {
						out = append(out, heading)
					}
				}
				return err
			}, selectHeadings, org, d.ID, d.Generation, headedPassages)
		}
	})
	return out, err
}

// inLanguage are the documents in a language, or all where none is.
func inLanguage(documents []Document, language string) []Document {
	code, _, _ := strings.Cut(language, "-")
	var some []Document
	for _, d := range documents {
		if d.Language != nil && strings.EqualFold(*d.Language, code) {
			some = append(some, d)
		}
	}
	if len(some) == 0 {
		return documents
	}
	return some
}

// selectHeadings rides knowledge_chunk_pkey.
const selectHeadings = `
	SELECT c.heading FROM knowledge_chunk c
	WHERE c.org_id = $1 AND c.document_id = $2 AND c.generation = $3
	ORDER BY c.position LIMIT $4`
