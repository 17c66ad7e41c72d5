package knowledge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Kind is where a document comes from.
type Kind string

// The kinds.
const (
	File    Kind = "file"
	Address Kind = "url"
	Text    Kind = "text"
)

// Status is whether a document was read.
type Status string

// The statuses.
const (
	Processing Status = "processing"
	Ready      Status = "ready"
	Failed     Status = "failed"
)

// Refresh is how often an address is read again.
type Refresh string

// The rhythms.
const (
	Never  Refresh = "none"
	Daily  Refresh = "daily"
	Weekly Refresh = "weekly"
)

// due is when a document read at a moment is to be read again; nil for never.
func (r Refresh) due(at time.Time) *time.Time {
	switch r {
	case Daily:
		at = at.AddDate(0, 0, 1)
	case Weekly:
		at = at.AddDate(0, 0, 7)
	default:
		return nil
	}
	return &at
}

// Document is a document of a pack.
type Document struct {
	ID    id.Document
	Base  id.KnowledgeBase
	Kind  Kind
	Title string
	// Titled says that the title was given: the document's own does not replace it.
	Titled bool
	Status Status
	// Error is why the last reading failed; empty when it did not. A document
	// that is ready has one when its refresh failed.
	Error       Code
	URL         *string
	Filename    *string
	ContentType string
	Bytes       int64
	// SHA256 is the content's; empty while that was not fetched.
	SHA256 []byte
	// File is the original; zero while it was not fetched.
	File id.File
	// Pages is nil for what has none.
	Pages  *int64
	Chunks int64
	// Postings counts the different terms of each passage.
	Postings int64
	Language *string
	Tags     []string
	Refresh  Refresh
	// CrawlPages is zero when the one page is meant.
	CrawlDepth, CrawlPages int64
	FetchedAt              *time.Time
	// Job reads the document; zero when none does.
	Job id.Job
	// Generation names the passages that can be found; zero when there are none.
	Generation           int64
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}

const selectDocument = `
	SELECT d.id, d.base_id, d.kind, d.title, d.titled, d.status, d.error_code, d.url, d.filename, d.content_type, d.bytes,
		d.sha256, d.file_id, d.pages, d.chunks, d.postings, d.language, d.tags, d.refresh, d.crawl_depth, d.crawl_pages, d.fetched_at,
		d.job_id, d.generation, d.created_at, d.updated_at, COALESCE(d.deleted_at, b.deleted_at)
	FROM knowledge_document d JOIN knowledge_base b ON b.org_id = d.org_id AND b.id = d.base_id `

func scanDocument(row pgx.CollectableRow) (Document, error) {
	return pgx.RowToStructByPos[Document](row)
}

// oneDocument is the one document that was found, if it is still there.
func oneDocument(d id.Document, found []Document, err error) (Document, error) {
	switch {
	case err != nil:
		return Document{}, err
	case len(found) == 0:
		return Document{}, DocumentNoun.NotFound(d)
	case found[0].DeletedAt != nil:
		return found[0], DocumentNoun.Gone(d)
	}
	return found[0], nil
}

// Filter narrows a list of documents; empty fields do not.
type Filter struct {
	Status Status
	Kind   Kind
	Tag    string
}

// ListDocuments is a page of a pack's documents, newest first, after one of
// them; the zero id for the first page. The error can be errdefs.NotFound or errdefs.Gone,
// of the pack. It rides knowledge_document_by_base.
func ListDocuments(ctx context.Context, t *tenant.Tenants, org id.Org, b id.KnowledgeBase, f Filter, after id.Document, limit int) ([]Document, error) {
	var (
		bases []Base
		found []Document
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			bases, err = pgx.CollectRows(rows, scanBase)
			return err
		}, selectBase+`WHERE b.org_id = $1 AND b.id = $2`, org, b)
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scanDocument)
			return err
		}, selectDocument+`
			WHERE d.org_id = $1 AND d.base_id = $2 AND ($3::UUID IS NULL OR d.id < $3) AND d.deleted_at IS NULL
				AND ($4 = '' OR d.status = $4) AND ($5 = '' OR d.kind = $5) AND ($6 = '' OR $6::TEXT = ANY(d.tags))
			ORDER BY d.id DESC LIMIT $7`, org, b, after, f.Status, f.Kind, f.Tag, limit)
	})
	if _, err := oneBase(b, bases, err); err != nil {
		return nil, err
	}
	return found, nil
}

// GetDocument finds a document. The error can be errdefs.NotFound or errdefs.Gone.
func GetDocument(ctx context.Context, t *tenant.Tenants, org id.Org, d id.Document) (Document, error) {
	found, err := tenant.All(ctx, t, org, scanDocument, selectDocument+`WHERE d.org_id = $1 AND d.id = $2`, org, d)
	return oneDocument(d, found, err)
}

// LockDocument reads a document and holds the rows of its pack and its own
// until the transaction ends. The error can be errdefs.NotFound or errdefs.Gone.
func LockDocument(ctx context.Context, tx *tenant.Tx, which id.Document) (Document, error) {
	// The pack first, as every change of it does: a document never changes its pack.
	if _, err := tx.Exec(ctx, `
		SELECT b.id FROM knowledge_base b
		WHERE b.org_id = $1 AND b.id = (SELECT d.base_id FROM knowledge_document d WHERE d.org_id = $1 AND d.id = $2)
		FOR UPDATE`, tx.Org, which); err != nil {
		return Document{}, err
	}
	found, err := tenant.AllIn(ctx, tx, scanDocument, selectDocument+`WHERE d.org_id = $1 AND d.id = $2 FOR UPDATE OF d`, tx.Org, which)
	return oneDocument(which, found, err)
}
