package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/search"
)

// How much of a website is read for a plan.
const (
	crawlDepth = 1
	crawlPages = 12
	crawlBytes = 2 << 20
	// maxChunks is how much of a document is looked at.
	maxChunks = 60
)

// source is a text that a plan is made of.
type source struct {
	Title string
	// URL or Document is where it comes from; neither of a brief.
	URL      string
	Document id.Document
	// Language is its code; empty where it is not certain.
	Language string
	Sections []extract.Section
}

// text is the source as one text, no longer than so many bytes.
func (s *source) text(limit int) string {
	var b strings.Builder
	for _, part := range s.Sections {
		if b.Len() >= limit {
			break
		}
		if part.Heading != "" {
			fmt.Fprintf(&b, "## %s\n", part.Heading)
		}
		b.WriteString(clip(part.Text, limit-b.Len()))
		b.WriteString("\n\n")
	}
	return strings.TrimSpace(b.String())
}

// Sources reads what portals are made of.
type Sources struct {
	Tenants *tenant.Tenants
	// Fetch gets websites, and Extract the text of their pages.
	Fetch   knowledge.Fetch
	Extract extract.Read
}

// gather reads what an input names. What cannot be read is a warning as long as
// something else can be, or there is a brief; else it is the error, a job.Refusal.
func (s *Sources) gather(ctx context.Context, org id.Org, in Input) ([]source, []golive.Finding, error) {
	var (
		found    []source
		warnings = []golive.Finding{}
		reason   = "empty"
	)
	if in.URL != nil {
		pages, err := s.website(ctx, *in.URL)
		broken, isBroken := errors.AsType[*crawl.Error](err)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case isBroken:
			reason = string(broken.Code)
			warnings = append(warnings, golive.Finding{Field: "input.url", Message: "The address could not be read: " + reason + "."})
		case err != nil:
			return nil, nil, err
		case len(pages) == 0:
			warnings = append(warnings, golive.Finding{Field: "input.url", Message: "There is no text at the address."})
		}
		found = append(found, pages...)
	}
	for i, d := range in.DocumentIDs {
		document, err := s.document(ctx, org, d)
		if errdefs.IsAbsent(err, knowledge.DocumentNoun) || errors.Is(err, errUnread) {
			warnings = append(warnings, golive.Finding{
				Field: fmt.Sprintf("input.documentIds[%d]", i), Message: "The document is not there, or was not read yet.",
			})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		found = append(found, document)
	}
	for i := range found {
		found[i].Language = search.Detect(found[i].text(sampleBytes))
	}
	if len(found) == 0 && len(warnings) > 0 && in.Brief == nil {
		return nil, nil, &job.Refusal{Code: reason}
	}
	return found, warnings, nil
}

// sampleBytes is how much of a text tells its language.
const sampleBytes = 20_000

// website reads a page and what it links to.
func (s *Sources) website(ctx context.Context, address string) ([]source, error) {
	var found []source
	err := s.Fetch(ctx, address, crawl.Options{Depth: crawlDepth, MaxPages: crawlPages, MaxBytes: crawlBytes}, func(page crawl.Page) error {
		text, err := s.Extract(ctx, page.ContentType, int64(len(page.Data)), bytes.NewReader(page.Data))
		switch {
		case extract.IsFault(err):
			return nil // a page that says nothing is passed over
		case err != nil:
			return err
		}
		found = append(found, source{Title: title(text.Title, page.URL), URL: page.URL, Sections: text.Sections})
		return nil
	})
	return found, err
}

// errUnread says that a document has no text yet.
var errUnread = errors.New("the document was not read yet")

// document is a document of a pack.
func (s *Sources) document(ctx context.Context, org id.Org, which id.Document) (source, error) {
	d, err := knowledge.GetDocument(ctx, s.Tenants, org, which)
	if err != nil {
		return source{}, err
	}
	chunks, err := knowledge.ListChunks(ctx, s.Tenants, org, which, 0, maxChunks)
	if err != nil {
		return source{}, err
	}
	if len(chunks) == 0 {
		return source{}, errUnread
	}
	made := source{Title: title(d.Title, which.String()), Document: which}
	for _, c := range chunks {
		if n := len(made.Sections); n > 0 && made.Sections[n-1].Heading == c.Heading {
			made.Sections[n-1].Text += "\n\n" + c.Text
			continue
		}
		made.Sections = append(made.Sections, extract.Section{Heading: c.Heading, Text: c.Text})
	}
	return made, nil
}

// title is what a page is called.
func title(own, address string) string {
	if own = strings.TrimSpace(own); own != "" {
		return clip(own, maxTitle)
	}
	return clip(address, maxTitle)
}

// clip cuts a text to so many bytes, at the end of a sentence or a word.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := strings.ToValidUTF8(text[:max(limit, 0)], "")
	if end := strings.LastIndexAny(cut, ".!?\n"); end > len(cut)/2 {
		return cut[:end+1]
	}
	if end := strings.LastIndexByte(cut, ' '); end > 0 {
		return cut[:end]
	}
	return cut
}
