package knowledge_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
)

// Each list and each search rides its index, whatever else the shard holds.
func TestStatementsRideTheirIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	b := w.base()
	d := w.read(b, opening)
	w.fill(b)
	require.Len(t, w.find(w.searcher, "museum", b), 1)
	w.read(b, "Tickets of the museum cost ten euros.")
	db, err := w.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		text, index string
		do          func() error
	}{
		"packs": {"FROM knowledge_base b", "knowledge_base_pkey", func() error {
			_, err := knowledge.ListBases(ctx, w.tenants, w.one, b, 10)
			return err
		}},
		"revisions": {"SELECT b.id, b.revision", "knowledge_base_pkey", func() error {
			_, err := knowledge.Revisions(ctx, w.tenants, w.one, []id.KnowledgeBase{b})
			return err
		}},
		"documents": {"d.base_id = $2 AND ($3", "knowledge_document_by_base", func() error {
			_, err := knowledge.ListDocuments(ctx, w.tenants, w.one, b, knowledge.Filter{Tag: "x"}, d, 10)
			return err
		}},
		"passages": {"FROM knowledge_chunk c", "knowledge_chunk_pkey", func() error {
			_, err := knowledge.ListChunks(ctx, w.tenants, w.one, d, 0, 10)
			return err
		}},
		"headings": {"SELECT c.heading FROM", "knowledge_chunk_pkey", func() error {
			_, err := w.searcher.Headings(ctx, w.one, []id.KnowledgeBase{b}, nil, "")
			return err
		}},
		"gaps": {"FROM knowledge_gap g", "knowledge_gap_pkey", func() error {
			_, err := knowledge.ListGaps(ctx, w.tenants, w.one, knowledge.GapFilter{}, id.NewGap(), 10)
			return err
		}},
		"the same": {"d.same_key = $3", "knowledge_document_same_key", func() error {
			_, _, err := w.tryAdd(w.text(b, opening), terms(nil))
			return err
		}},
		"changes": {"d.revision > $3", "knowledge_document_by_revision", func() error {
			_, err := w.searcher.Search(ctx, w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Limit: 5})
			return err
		}},
		"what was found": {"c.id = ANY($2)", "knowledge_chunk_by_id", func() error {
			_, err := w.searcher.Search(ctx, w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Limit: 5})
			return err
		}},
		"refreshes": {"d.refresh_due_at <= $1", "knowledge_document_refresh", func() error {
			_, err := knowledge.Refreshed(ctx, w.tenants, "a", w.now())
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range w.sent.Of(t, tt.text, tt.do) {
				require.Contains(t, s.Forced(t, db), tt.index, s.SQL)
			}
		})
	}
}

// fill gives the pack many documents with passages that are being read, and
// the planner figures of them.
func (w *world) fill(b id.KnowledgeBase) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	for _, sql := range []string{
		`INSERT INTO knowledge_document (org_id, id, base_id, kind, title, titled, status, error_code, content_type, bytes, sha256,
			same_key, chunks, tags, refresh, crawl_depth, crawl_pages, generation, revision, refresh_due_at, created_at, updated_at)
		SELECT $1, gen_random_uuid(), $2, 'text', 'Title', false, 'processing', '', 'text/plain', 1, '', decode(md5(i::TEXT), 'hex'),
			0, '{}', 'none', 0, 0, 0, -i, $3::TIMESTAMPTZ + i * INTERVAL '1 hour', $3, $3
		FROM generate_series(1, 3000) AS g (i)`,
		`INSERT INTO knowledge_chunk (org_id, document_id, generation, position, id, heading, text)
		SELECT org_id, id, 1, i, gen_random_uuid(), '', 'Text' FROM knowledge_document, generate_series(1, 5) AS g (i)
		WHERE org_id = $1 AND base_id = $2 AND revision < 0 AND created_at <= $3`,
	} {
		_, err := db.Exec(context.Background(), sql, w.one, b, w.now())
		require.NoError(w.t, err)
	}
	_, err = db.Exec(context.Background(), `ANALYZE`)
	require.NoError(w.t, err)
}
