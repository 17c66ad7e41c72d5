package knowledge

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

// Chunk is a passage of a document.
type Chunk struct {
	// Position counts from zero.
	Position      int64
	ID            id.Chunk
	Heading, Text string
	// Page counts from one; nil where the document has none.
	Page *int64
	// URL is the page's of a site.
	URL *string
}

// text is what is analysed of a passage: what stands above it counts too.
func (c *Chunk) text(title string) search.Text {
	return search.Text{ID: c.ID, Heading: title + "\n" + c.Heading, Text: c.Text}
}

// ListChunks is a page of the passages that can be found of a document, in
// order, from a position. The error can be errdefs.NotFound or errdefs.Gone. It rides
// knowledge_chunk_pkey.
func ListChunks(ctx context.Context, t *tenant.Tenants, org id.Org, d id.Document, from int64, limit int) ([]Chunk, error) {
	var (
		documents []Document
		found     []Chunk
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			documents, err = pgx.CollectRows(rows, scanDocument)
			return err
		}, selectDocument+`WHERE d.org_id = $1 AND d.id = $2`, org, d)
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Chunk])
			return err
		}, `
			SELECT c.position, c.id, c.heading, c.text, c.page, c.url FROM knowledge_chunk c
			WHERE c.org_id = $1 AND c.document_id = $2 AND c.position >= $3
				AND c.generation = (SELECT d.generation FROM knowledge_document d WHERE d.org_id = $1 AND d.id = $2)
			ORDER BY c.position LIMIT $4`, org, d, from, limit)
	})
	if _, err := oneDocument(d, documents, err); err != nil {
		return nil, err
	}
	return found, nil
}

// chunksAtOnce is how many passages a transaction writes or deletes.
const chunksAtOnce = 1000

// write writes the passages, and what finds them, of the document's next generation, which nobody
// finds yet, in transactions of some size. What an earlier run left of it is
// replaced. The error is errdefs.Gone when nobody waits for them any more.
func (d *Document) write(ctx context.Context, t *tenant.Tenants, org id.Org, chunks []Chunk, forms [][]byte) error {
	next := d.Generation + 1
	for left := true; left; {
		err := d.inTx(ctx, t, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			left, err = deleteChunks(ctx, tx, d.ID, next, next)
			return err
		})
		if err != nil {
			return err
		}
	}
	for at := 0; at < len(chunks); at += chunksAtOnce {
		some := chunks[at:min(at+chunksAtOnce, len(chunks))]
		err := d.inTx(ctx, t, org, func(ctx context.Context, tx *tenant.Tx) error {
			return insertChunks(ctx, tx, d.ID, next, some)
		})
		if err != nil {
			return err
		}
	}
	for part, form := range forms {
		err := d.inTx(ctx, t, org, func(ctx context.Context, tx *tenant.Tx) error {
			return insertForm(ctx, tx, d.ID, next, part, form)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inTx runs fn while the document is there and its job is the one that reads
// it: nothing is written after it was deleted.
func (d *Document) inTx(ctx context.Context, t *tenant.Tenants, org id.Org, fn func(context.Context, *tenant.Tx) error) error {
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tag, err := tx.Exec(ctx, `
			SELECT id FROM knowledge_document WHERE org_id = $1 AND id = $2 AND job_id = $3 AND deleted_at IS NULL FOR UPDATE`,
			tx.Org, d.ID, d.Job)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return DocumentNoun.Gone(d.ID)
		}
		return fn(ctx, tx)
	}, tenant.Idempotent(true))
}

func insertChunks(ctx context.Context, tx *tenant.Tx, d id.Document, generation int64, chunks []Chunk) error {
	var (
		n         = len(chunks)
		positions = make([]int64, n)
		ids       = make([]id.Chunk, n)
		headings  = make([]string, n)
		texts     = make([]string, n)
		pages     = make([]*int64, n)
		urls      = make([]*string, n)
	)
	for i, c := range chunks {
		positions[i], ids[i], headings[i], texts[i], pages[i], urls[i] = c.Position, c.ID, c.Heading, c.Text, c.Page, c.URL
		tx.Touch("knowledge_chunk", d, number(generation), number(c.Position))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO knowledge_chunk (org_id, document_id, generation, position, id, heading, text, page, url)
		SELECT $1, $2, $3, p, i, h, t, g, u
		FROM unnest($4::BIGINT[], $5::UUID[], $6::TEXT[], $7::TEXT[], $8::BIGINT[], $9::TEXT[]) AS chunks (p, i, h, t, g, u)
		ON CONFLICT (org_id, document_id, generation, position) DO NOTHING`,
		tx.Org, d, generation, positions, ids, headings, texts, pages, urls)
	return err
}

// deleteChunks deletes some passages of the generations from one to another,
// and after the last their forms; left says that there can be more.
func deleteChunks(ctx context.Context, tx *tenant.Tx, d id.Document, from, to int64) (left bool, err error) {
	rows, err := tx.Query(ctx, `
		DELETE FROM knowledge_chunk WHERE org_id = $1 AND document_id = $2 AND (generation, position) IN (
			SELECT generation, position FROM knowledge_chunk
			WHERE org_id = $1 AND document_id = $2 AND generation >= $3 AND generation <= $4
			ORDER BY generation, position LIMIT $5)
		RETURNING generation, position`, tx.Org, d, from, to, chunksAtOnce)
	if err != nil {
		return false, err
	}
	n := 0
	for rows.Next() {
		var generation, position int64
		if err := rows.Scan(&generation, &position); err != nil {
			return false, err
		}
		tx.Touch("knowledge_chunk", d, number(generation), number(position))
		n++
	}
	if n == chunksAtOnce || rows.Err() != nil {
		return true, rows.Err()
	}
	if err := deleteVectors(ctx, tx, d, from, to); err != nil {
		return false, err
	}
	return false, deleteForms(ctx, tx, d, from, to)
}

// insertForm writes one of the forms that an index adds.
func insertForm(ctx context.Context, tx *tenant.Tx, d id.Document, generation int64, part int, form []byte) error {
	tx.Touch("knowledge_index", d, number(generation), number(part))
	_, err := tx.Exec(ctx, `
		INSERT INTO knowledge_index (org_id, document_id, generation, part, form) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, document_id, generation, part) DO NOTHING`, tx.Org, d, generation, part, form)
	return err
}

// deleteForms deletes the forms of the generations from one to another. They
// are few.
func deleteForms(ctx context.Context, tx *tenant.Tx, d id.Document, from, to int64) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM knowledge_index WHERE org_id = $1 AND document_id = $2 AND generation >= $3 AND generation <= $4
		RETURNING generation, part`, tx.Org, d, from, to)
	if err != nil {
		return err
	}
	var generation, part int64
	_, err = pgx.ForEachRow(rows, []any{&generation, &part}, func() error {
		tx.Touch("knowledge_index", d, number(generation), number(part))
		return nil
	})
	return err
}

// foreign is a form of no release: who reads it analyses the passages anew.
var foreign = []byte{0}

// replaceTerms tells the release before that a document was read
// (00023_knowledge_index.sql), or deleted when it is not found any more.
func replaceTerms(ctx context.Context, tx *tenant.Tx, d id.Document, found bool) error {
	tx.Touch("knowledge_terms", d)
	sql, args := `DELETE FROM knowledge_terms WHERE org_id = $1 AND document_id = $2`, []any{tx.Org, d}
	if found {
		sql = `
			INSERT INTO knowledge_terms (org_id, document_id, analysed) VALUES ($1, $2, $3)
			ON CONFLICT (org_id, document_id) DO UPDATE SET analysed = excluded.analysed`
		args = append(args, foreign)
	}
	_, err := tx.Exec(ctx, sql, args...)
	return err
}

// number is a number that is part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }
