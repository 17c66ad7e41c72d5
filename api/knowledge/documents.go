package knowledge

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// Document is one document of a pack.
type Document struct {
	ID              id.Document             `json:"id" doc:"Id of the document, with the prefix doc_."`
	KnowledgeBaseID id.KnowledgeBase        `json:"knowledgeBaseId" doc:"The pack that it is in."`
	Kind            knowledge.Kind          `json:"kind" enum:"file,url,text" doc:"Whether it was added as a file, by its address, or as plain text."`
	Title           string                  `json:"title" doc:"What it is called, for people and in sources."`
	Status          knowledge.Status        `json:"status" enum:"processing,ready,failed" doc:"processing until it is read, ready to be answered from, or failed."`
	Error           route.OrNull[ReadError] `json:"error" doc:"Why it could not be read. A document that is ready has one when its last refresh failed."`
	JobID           *id.Job                 `json:"jobId" nullable:"true" doc:"The job that reads it; null when none does."`
	URL             *string                 `json:"url" doc:"The address that it was read from; null for a file or a text."`
	Filename        *string                 `json:"filename" doc:"The name that the file came with; null for an address or a text."`
	ContentType     *string                 `json:"contentType" doc:"What it is found to be; null for an address that was not fetched."`
	Bytes           int64                   `json:"bytes" doc:"Size of what was added, in bytes."`
	SHA256          *string                 `json:"sha256" doc:"Of the content; null for an address that was not fetched."`
	Pages           *int64                  `json:"pages" doc:"How many pages it has; null where it has none."`
	ChunkCount      int64                   `json:"chunkCount" doc:"How many passages it was cut into."`
	Language        *string                 `json:"language" doc:"What its text is found to be in."`
	Tags            []string                `json:"tags" doc:"Words to search and answer by."`
	Refresh         knowledge.Refresh       `json:"refresh" enum:"none,daily,weekly" doc:"How often its address is read again."`
	LastFetchedAt   *time.Time              `json:"lastFetchedAt" doc:"When its address was last read, in UTC; null for never."`
	Crawl           route.OrNull[Crawl]     `json:"crawl" doc:"How far links are followed; null where they are not."`
	CreatedAt       time.Time               `json:"createdAt" doc:"When it was added, in UTC."`
	UpdatedAt       time.Time               `json:"updatedAt" doc:"When it was last changed or read, in UTC."`
}

// ReadError is why a document could not be read.
type ReadError struct {
	Code    knowledge.Code `json:"code" enum:"address_refused,blocked,empty,fetch_failed,pack_full,timeout,too_complex,too_large,unreadable,unsupported" doc:"Why it could not be read, to branch on."`
	Message string         `json:"message" doc:"Why it could not be read, for people."`
}

// Crawl is how far the links of an address are followed.
type Crawl struct {
	Depth    int64 `json:"depth" minimum:"0" maximum:"2" doc:"How many links away from the address."`
	MaxPages int64 `json:"maxPages" minimum:"1" maximum:"100" doc:"How many pages are read at most."`
}

func showDocument(d knowledge.Document) Document {
	shown := Document{
		ID: d.ID, KnowledgeBaseID: d.Base, Kind: d.Kind, Title: d.Title, Status: d.Status, URL: d.URL, Filename: d.Filename,
		Bytes: d.Bytes, Pages: d.Pages, ChunkCount: d.Chunks, Language: d.Language,
		Tags: d.Tags, Refresh: d.Refresh, LastFetchedAt: route.UTC(d.FetchedAt), CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
	}
	if d.Error != "" {
		shown.Error.Value = &ReadError{d.Error, d.Error.Message()}
	}
	if !d.Job.IsZero() {
		shown.JobID = &d.Job
	}
	if d.ContentType != "" {
		shown.ContentType = &d.ContentType
	}
	if len(d.SHA256) > 0 {
		sum := hex.EncodeToString(d.SHA256)
		shown.SHA256 = &sum
	}
	if d.CrawlPages > 0 {
		shown.Crawl.Value = &Crawl{d.CrawlDepth, d.CrawlPages}
	}
	return shown
}

// DocumentQuery filters and pages a pack's documents.
type DocumentQuery struct {
	BasePath
	route.Paging
	Status string `query:"status" enum:"processing,ready,failed" doc:"Only documents that are so far."`
	Kind   string `query:"kind" enum:"file,url,text" doc:"Only documents that were added so."`
	Tag    string `query:"tag" maxLength:"60" doc:"Documents with this tag."`
}

func (a *API) listDocuments(ctx context.Context, c *route.Call, q *DocumentQuery) (route.Page[Document], error) {
	b, err := q.base()
	if err != nil {
		return route.Page[Document]{}, err
	}
	filter := knowledge.Filter{Status: knowledge.Status(q.Status), Kind: knowledge.Kind(q.Kind), Tag: q.Tag}
	return route.Listed(c, q.Paging, func(after id.Document, limit int) ([]knowledge.Document, error) {
		found, err := knowledge.ListDocuments(ctx, a.Tenants, c.Org(), b, filter, after, limit)
		return found, err
	}, func(d knowledge.Document) id.Document { return d.ID }, showDocument)
}

func (a *API) getDocument(ctx context.Context, c *route.Call, p *DocumentPath) (Document, error) {
	d, err := p.document()
	if err != nil {
		return Document{}, err
	}
	found, err := knowledge.GetDocument(ctx, a.Tenants, c.Org(), d)
	return showDocument(found), err
}

// DocumentUpdate is the request for a change of a document.
type DocumentUpdate struct {
	DocumentPath
	Body DocumentChange
}

// DocumentChange is what to change of a document.
type DocumentChange struct {
	Title   route.Opt[string]            `json:"title,omitzero" minLength:"1" maxLength:"200" doc:"A new title, for people and in sources."`
	Tags    route.Opt[[]string]          `json:"tags,omitzero" maxItems:"20" doc:"Each of 1 to 60 characters."`
	Refresh route.Opt[knowledge.Refresh] `json:"refresh,omitzero" enum:"none,daily,weekly" doc:"Of a document of kind url."`
}

func (a *API) updateDocument(ctx context.Context, c *route.Call, in *DocumentUpdate) (Document, error) {
	wanted, err := in.document()
	if err != nil {
		return Document{}, err
	}
	if err := checkTags(in.Body.Tags.Value); err != nil {
		return Document{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Document, error) {
		d, err := knowledge.LockDocument(ctx, tx, wanted)
		if err != nil {
			return Document{}, err
		}
		changes := map[string]any{}
		if in.Body.Title.Set {
			d.Title, d.Titled, changes["title"] = in.Body.Title.Value, true, in.Body.Title.Value
		}
		if in.Body.Tags.Set {
			d.Tags, changes["tags"] = in.Body.Tags.Value, in.Body.Tags.Value
		}
		if in.Body.Refresh.Set {
			d.Refresh, changes["refresh"] = in.Body.Refresh.Value, in.Body.Refresh.Value
		}
		if d.Kind != knowledge.Address && d.Refresh != knowledge.Never {
			return Document{}, problem.Invalid("body.refresh", "Only a document of kind url can be read again.")
		}
		if len(changes) == 0 {
			return showDocument(d), nil
		}
		d.UpdatedAt = c.Now()
		return showDocument(d), knowledge.UpdateDocument(ctx, tx, d, changes, c.Actor())
	})
}

const maxTag = 60

func checkTags(tags []string) error {
	for i, tag := range tags {
		if n := utf8.RuneCountInString(tag); n < 1 || n > maxTag {
			return problem.Invalid(fmt.Sprintf("body.tags[%d]", i), "A tag has 1 to %d characters.", maxTag)
		}
	}
	return nil
}

func (a *API) deleteDocument(ctx context.Context, c *route.Call, p *DocumentPath) (route.Deleted, error) {
	wanted, err := p.document()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		d, err := knowledge.DeleteDocument(ctx, tx, wanted, c.Actor())
		if err != nil {
			return route.Deleted{}, err
		}
		if !d.File.IsZero() {
			if err := a.Files.Discard(ctx, tx, d.File); err != nil {
				return route.Deleted{}, err
			}
		}
		return route.Deleted{Deleted: true, ID: d.ID.String()}, nil
	})
}
