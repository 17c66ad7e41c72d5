package knowledge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

// Outcome is what came of adding a document.
type Outcome int

// The outcomes.
const (
	Added Outcome = iota
	// Existing: the pack has the same already; that is answered.
	Existing
	// Full: the terms leave no room for another document, and nothing was added.
	Full
	// FullBytes: the terms leave no room for its bytes.
	FullBytes
	// FullIndex: the pack has as many different words and passages as one may have.
	FullIndex
)

// sameKey is what no two documents of a pack have alike: the content's hash,
// or that of the address and how far it is followed.
func (d *Document) sameKey() []byte {
	if d.Kind != Address {
		return d.SHA256
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "url\n%s\n%d\n%d", *d.URL, d.CrawlDepth, d.CrawlPages))
	return sum[:]
}

// selectSame rides knowledge_document_same_key.
const selectSame = selectDocument + `WHERE d.org_id = $1 AND d.base_id = $2 AND d.same_key = $3 AND d.deleted_at IS NULL`

// Add adds a document to a pack, with the job that reads it. The error can be errdefs.NotFound or errdefs.Gone, of the pack.
func Add(ctx context.Context, tx *tenant.Tx, d Document, terms plan.Terms, who activity.Actor) (Document, Outcome, error) {
	b, err := LockBase(ctx, tx, d.Base)
	if err != nil {
		return d, Added, err
	}
	rows, err := tx.Query(ctx, selectSame, tx.Org, d.Base, d.sameKey())
	if err != nil {
		return d, Added, err
	}
	same, err := pgx.CollectRows(rows, scanDocument)
	if err != nil {
		return d, Added, err
	}
	if len(same) > 0 {
		return same[0], Existing, nil
	}
	if limit, limited := terms.Limit(plan.DocumentsPerBase); limited && b.Documents >= limit {
		return d, Full, nil
	}
	if limit, limited := terms.Limit(plan.BytesPerBase); limited && b.Bytes+d.Bytes > limit {
		return d, FullBytes, nil
	}
	if room, _, err := hasRoom(ctx, tx, &Document{Base: d.Base}, search.Weight{}, fullBytes); err != nil || !room {
		return d, FullIndex, err
	}
	d.Status = Processing
	if d.Job, err = propose(ctx, tx, &d, who.By, d.CreatedAt); err != nil {
		return d, Added, err
	}
	if _, err := count(ctx, tx, d.Base, delta{documents: 1, bytes: d.Bytes}); err != nil {
		return d, Added, err
	}
	tx.Touch("knowledge_document", d.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO knowledge_document (org_id, id, base_id, kind, title, titled, status, error_code, url, filename, content_type,
			bytes, sha256, same_key, file_id, chunks, tags, refresh, crawl_depth, crawl_pages, job_id, generation, revision,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', $8, $9, $10, $11, $12, $13, $14, 0, $15, $16, $17, $18, $19, 0, 0, $20, $20)`,
		tx.Org, d.ID, d.Base, d.Kind, d.Title, d.Titled, d.Status, d.URL, d.Filename, d.ContentType,
		d.Bytes, d.SHA256, d.sameKey(), d.File, d.Tags, d.Refresh, d.CrawlDepth, d.CrawlPages, d.Job, d.CreatedAt); err != nil {
		return d, Added, err
	}
	who.Log(tx, "document.added", "document", d.ID, map[string]any{
		"title": d.Title, "kind": d.Kind, "knowledgeBaseId": d.Base,
	})
	return d, Added, nil
}

// task is what a job of kind knowledge_sync is to do.
type task struct {
	Document id.Document `json:"document"`
	job.Fetching
}

// propose queues the job that reads a document.
func propose(ctx context.Context, tx *tenant.Tx, d *Document, by string, at time.Time) (id.Job, error) {
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.KnowledgeSync, ResourceKind: "document", ResourceID: d.ID.String(), Scope: scope.KnowledgeRead,
		CreatedBy: by, CreatedAt: at,
	}, task{Document: d.ID, Fetching: job.Fetching{Fetches: d.Kind == Address}})
	return j.ID, err
}
