package knowledge

import (
	"context"
	"encoding/hex"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) refresh(ctx context.Context, c *route.Call, p *DocumentPath) (Document, error) {
	wanted, err := p.document()
	if err != nil {
		return Document{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Document, error) {
		d, err := knowledge.ReadAgain(ctx, tx, wanted, c.Actor())
		return showDocument(d), err
	})
}

// Chunk is one passage of a document.
type Chunk struct {
	ID       id.Chunk `json:"id" doc:"Id of the passage, with the prefix chunk_."`
	Position int64    `json:"position" doc:"Where it stands in the document, from 0."`
	Heading  *string  `json:"heading" doc:"The heading that it stands under; null for none."`
	Text     string   `json:"text" doc:"The passage's words."`
	Page     *int64   `json:"page" doc:"The page that it is on, from 1; null where the document has no pages."`
	URL      *string  `json:"url" doc:"The page of a site that it is on."`
}

func showChunk(c knowledge.Chunk) Chunk {
	return Chunk{ID: c.ID, Position: c.Position, Heading: orNull(c.Heading), Text: c.Text, Page: c.Page, URL: c.URL}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ChunkQuery pages through a document's passages.
type ChunkQuery struct {
	DocumentPath
	route.Paging
}

func (a *API) listChunks(ctx context.Context, c *route.Call, q *ChunkQuery) (route.Page[Chunk], error) {
	d, err := q.document()
	if err != nil {
		return route.Page[Chunk]{}, err
	}
	after, err := route.After[int64](c, q.Paging)
	if err != nil {
		return route.Page[Chunk]{}, err
	}
	from := int64(0)
	if after != nil {
		from = *after + 1
	}
	found, err := knowledge.ListChunks(ctx, a.Tenants, c.Org(), d, from, q.Limit+1)
	if err != nil {
		return route.Page[Chunk]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(c knowledge.Chunk) int64 { return c.Position })
	return route.Map(page, showChunk), err
}

// downloads are the content types of originals.
var downloads = []string{
	"application/json", "application/pdf",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"text/csv", "text/html", "text/markdown", "text/plain",
}

func (a *API) download(ctx context.Context, c *route.Call, p *DocumentPath) (route.Blob, error) {
	wanted, err := p.document()
	if err != nil {
		return route.Blob{}, err
	}
	d, err := knowledge.GetDocument(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return route.Blob{}, err
	}
	if d.File.IsZero() {
		return route.Blob{}, problem.Conflicting("not_fetched", "The address was not fetched yet.").WithParam("path.id")
	}
	name := d.ID.String()
	if d.Filename != nil {
		name = *d.Filename
	}
	return route.Blob{
		ContentType: d.ContentType, ETag: `"` + hex.EncodeToString(d.File[:]) + `"`, CacheControl: "private, no-cache", Download: name,
		Data: func(ctx context.Context) ([]byte, error) { return a.Files.Read(ctx, c.Org(), d.File) },
	}, nil
}
