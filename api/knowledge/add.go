package knowledge

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/extract"
)

const (
	// maxFile is the largest file of any plan.
	maxFile = 50 << 20
	// maxJSON holds the longest text, a million characters, and the rest.
	maxJSON = 4<<20 + 64<<10
)

// upload is how a file is sent.
func upload() *route.Upload {
	return &route.Upload{
		Field: "file", Texts: []string{"title"}, Lists: []string{"tags"}, Always: map[string]any{"kind": "file"}, MaxBytes: mayHold,
	}
}

// mayHold is the largest file that the caller's plan allows.
func mayHold(c *route.Call) int64 {
	if limit, limited := c.Principal.Terms.Limit(plan.DocumentBytes); limited {
		return min(limit, maxFile)
	}
	return maxFile
}

// AddInput is the request for another document.
type AddInput struct {
	BasePath
	Body DocumentInput
}

// DocumentInput is a document to be added.
type DocumentInput struct {
	Kind    knowledge.Kind    `json:"kind" enum:"file,url,text" doc:"A file comes as multipart/form-data."`
	URL     *string           `json:"url,omitempty" maxLength:"2048" nullable:"true" doc:"A public https address, for kind url."`
	Text    *string           `json:"text,omitempty" minLength:"1" maxLength:"1000000" nullable:"true" doc:"For kind text."`
	Title   *string           `json:"title,omitempty" minLength:"1" maxLength:"200" doc:"The document's own unless given."`
	Tags    []string          `json:"tags,omitempty" maxItems:"20" doc:"Each of 1 to 60 characters."`
	Refresh knowledge.Refresh `json:"refresh,omitempty" enum:"none,daily,weekly" doc:"How often an address is read again; none unless given."`
	Crawl   *CrawlInput       `json:"crawl,omitempty" doc:"Read the pages that an address links to as well, on the same site."`
}

// CrawlInput is how far to follow the links of an address.
type CrawlInput struct {
	Depth    int64 `json:"depth" minimum:"0" maximum:"2" doc:"How many links away from the address to go; 0 reads its own page alone."`
	MaxPages int64 `json:"maxPages,omitempty" minimum:"1" maximum:"100" doc:"20 unless given."`
}

const usualPages = 20

func (a *API) add(ctx context.Context, c *route.Call, in *AddInput) (Document, error) {
	b, err := in.base()
	if err != nil {
		return Document{}, err
	}
	d, err := in.Body.document(c, b)
	if err != nil {
		return Document{}, err
	}
	switch d.Kind {
	case knowledge.File:
		err = a.takeFile(ctx, c, &d)
	case knowledge.Address:
		err = a.takeAddress(&in.Body, &d)
	case knowledge.Text:
		err = a.takeText(ctx, c, &in.Body, &d)
	}
	if err != nil {
		return Document{}, err
	}
	return a.commit(ctx, c, d)
}

// document reads what all kinds have, and refuses what the kind has not.
func (b *DocumentInput) document(c *route.Call, base id.KnowledgeBase) (knowledge.Document, error) {
	now := c.Now()
	d := knowledge.Document{
		ID: id.NewDocument(), Base: base, Kind: b.Kind, Tags: b.Tags, Refresh: knowledge.Never, SHA256: []byte{},
		CreatedAt: now, UpdatedAt: now,
	}
	if b.Title != nil {
		d.Title, d.Titled = *b.Title, true
	}
	if d.Tags == nil {
		d.Tags = []string{}
	}
	isURL := b.Kind == knowledge.Address
	for param, surplus := range map[string]bool{
		"body.url":     b.URL != nil && !isURL,
		"body.text":    b.Text != nil && b.Kind != knowledge.Text,
		"body.refresh": b.Refresh != "" && b.Refresh != knowledge.Never && !isURL,
		"body.crawl":   b.Crawl != nil && !isURL,
	} {
		if surplus {
			return d, problem.Invalid(param, "A document of kind %s has no %s.", b.Kind, strings.TrimPrefix(param, "body."))
		}
	}
	return d, checkTags(b.Tags)
}

// takeFile looks at what was uploaded and stores it.
func (a *API) takeFile(ctx context.Context, c *route.Call, d *knowledge.Document) error {
	const param = "body.file"
	sent := c.Uploaded()
	if sent == nil {
		return problem.Invalid("body.kind", "Send a file as multipart/form-data.")
	}
	if sent.Size == 0 {
		return problem.Invalid(param, "The file is empty.")
	}
	select {
	case a.reading <- struct{}{}:
		defer func() { <-a.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	data, err := sent.Bytes()
	if err != nil {
		return err
	}
	if d.ContentType, err = extract.Detect(sent.Name, sent.ContentType, data); errors.Is(err, extract.ErrUnsupported) {
		return problem.New(problem.UnsupportedMediaType,
			"The file must be PDF, Word, PowerPoint, Excel, CSV, text, Markdown, HTML or JSON.").WithParam(param).WithCause(err)
	} else if err != nil {
		return problem.Invalid(param, "The file cannot be read.").WithCause(err)
	}
	if sent.Name != "" {
		d.Filename = &sent.Name
	}
	if d.Title == "" {
		d.Title = "Untitled"
		if sent.Name != "" {
			d.Title = sent.Name
		}
	}
	d.SHA256, d.Bytes = sent.SHA256[:], sent.Size
	d.File, err = a.Files.Put(ctx, c.Org(), d.ContentType, data)
	return err
}

func (a *API) takeAddress(b *DocumentInput, d *knowledge.Document) error {
	const param = "body.url"
	if b.URL == nil {
		return problem.Invalid(param, "%s is required for kind url.", param)
	}
	if _, err := a.Egress.CheckURL(*b.URL); err != nil {
		return problem.Invalid(param, "The address cannot be used: %v.", err).WithCause(err)
	}
	d.URL = b.URL
	if b.Refresh != "" {
		d.Refresh = b.Refresh
	}
	if b.Crawl != nil {
		d.CrawlDepth, d.CrawlPages = b.Crawl.Depth, b.Crawl.MaxPages
		if d.CrawlPages == 0 {
			d.CrawlPages = usualPages
		}
	}
	if d.Title == "" {
		d.Title = *b.URL
	}
	return nil
}

func (a *API) takeText(ctx context.Context, c *route.Call, b *DocumentInput, d *knowledge.Document) (err error) {
	const param = "body.text"
	if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
		return problem.Invalid(param, "%s is required for kind text.", param)
	}
	if limit := mayHold(c); int64(len(*b.Text)) > limit {
		return problem.New(problem.TooLarge, "The text may have at most %d bytes.", limit).WithParam(param)
	}
	sum := sha256.Sum256([]byte(*b.Text))
	d.ContentType, d.SHA256, d.Bytes = "text/plain", sum[:], int64(len(*b.Text))
	if d.Title == "" {
		d.Title = firstLine(*b.Text)
	}
	d.File, err = a.Files.Put(ctx, c.Org(), d.ContentType, []byte(*b.Text))
	return err
}

// firstLine is a title for a text that has none.
func firstLine(text string) string {
	const long = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(strings.TrimSpace(line)); len(runes) > long {
		return string(runes[:long]) + "…"
	}
	return strings.TrimSpace(line)
}

func (a *API) commit(ctx context.Context, c *route.Call, d knowledge.Document) (Document, error) {
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Document, error) {
		added, outcome, err := knowledge.Add(ctx, tx, d, c.Principal.Terms, c.Actor())
		switch {
		case err != nil:
			return Document{}, err
		case outcome == knowledge.Full:
			return Document{}, a.Plans.LimitReached(c.Principal.Terms, plan.DocumentsPerBase)
		case outcome == knowledge.FullBytes:
			return Document{}, a.Plans.LimitReached(c.Principal.Terms, plan.BytesPerBase)
		case outcome == knowledge.FullIndex:
			return Document{}, packFull().WithParam("path.id")
		case outcome == knowledge.Existing:
			// What was stored of this one is swept.
			c.AnswerWith(http.StatusOK)
			return showDocument(added), nil
		}
		if !d.File.IsZero() {
			if err := a.Files.Keep(ctx, tx, d.File); err != nil {
				return Document{}, err
			}
		}
		return showDocument(added), nil
	})
}
