package knowledge

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

const (
	// MaxPackBytes bounds what a pack's index takes of memory, by its weight. A
	// thousand pages weigh 6 MiB where words have spaces and 24 MiB where they
	// have none, as measured with texts that are richer in words than real ones.
	MaxPackBytes = 96 << 20
	// fullBytes is from where on a pack takes no more documents: hardly one of
	// a page would fit.
	fullBytes = MaxPackBytes - 256<<10
)

// hasRoom says whether a document's weight fits in its pack beside the others,
// and what the pack's vocabulary is then. The document's own weight of before
// counts no more; d is zero but for its pack when there is none. It rides
// knowledge_base_pkey.
func hasRoom(ctx context.Context, tx *tenant.Tx, d *Document, w search.Weight, most int64) (bool, search.Vocabulary, error) {
	var (
		documents int64
		pack      search.Weight
	)
	err := tx.QueryRow(ctx, `SELECT documents, chunks, postings, vocabulary FROM knowledge_base WHERE org_id = $1 AND id = $2`,
		tx.Org, d.Base).Scan(&documents, &pack.Passages, &pack.Postings, &pack.Vocabulary)
	if err != nil {
		return false, nil, err
	}
	pack.Passages -= d.Chunks
	pack.Postings -= d.Postings
	pack.Add(w)
	if pack.Bytes(documents) <= most {
		return true, pack.Vocabulary, nil
	}
	// The pack's vocabulary still has the terms of what was deleted.
	if pack.Vocabulary, err = vocabulary(ctx, tx, d); err != nil {
		return false, nil, err
	}
	pack.Vocabulary = pack.Vocabulary.With(w.Vocabulary)
	return pack.Bytes(documents) <= most, pack.Vocabulary, nil
}

// vocabulary is that of a pack's documents without one of them. It rides
// knowledge_document_by_base.
func vocabulary(ctx context.Context, tx *tenant.Tx, without *Document) (all search.Vocabulary, err error) {
	rows, err := tx.Query(ctx, `
		SELECT d.vocabulary FROM knowledge_document d
		WHERE d.org_id = $1 AND d.base_id = $2 AND d.deleted_at IS NULL AND ($3::UUID IS NULL OR d.id <> $3)`,
		tx.Org, without.Base, without.ID)
	if err != nil {
		return nil, err
	}
	var one search.Vocabulary
	_, err = pgx.ForEachRow(rows, []any{&one}, func() error {
		all = all.With(one)
		return nil
	})
	return all, err
}

// weigh notes a document's weight and its pack's vocabulary.
func (d *Document) weigh(ctx context.Context, tx *tenant.Tx, own, pack search.Vocabulary) error {
	tx.Touch("knowledge_document", d.ID)
	if _, err := tx.Exec(ctx, `UPDATE knowledge_document SET vocabulary = $3 WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, own); err != nil {
		return err
	}
	tx.Touch("knowledge_base", d.Base)
	_, err := tx.Exec(ctx, `UPDATE knowledge_base SET vocabulary = $3 WHERE org_id = $1 AND id = $2`, tx.Org, d.Base, pack)
	return err
}
