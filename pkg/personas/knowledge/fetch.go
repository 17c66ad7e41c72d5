package knowledge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

// site is what is fetched of an address.
type site struct {
	*reading
	sum     hash.Hash
	extract extract.Read
	// text is how long the passages are in all.
	text int
	// read counts the pages that have some.
	read int
	// first is the page at the address itself: the document's original.
	first []byte
}

// fetch gets an address and reads its pages. A page that cannot be read is
// passed by, but not the first.
func (r *Reader) fetch(ctx context.Context, org id.Org, d Document) (*reading, error) {
	s := &site{reading: &reading{}, sum: sha256.New(), extract: r.Extract}
	cut := false
	options := crawl.Options{
		Depth: int(d.CrawlDepth), MaxPages: max(int(d.CrawlPages), 1), MaxBytes: maxFetched, Cut: func() { cut = true },
	}
	err := r.Fetch(ctx, *d.URL, options, func(p crawl.Page) error { return s.take(ctx, p) })
	if err != nil {
		return nil, asFetchFailure(ctx, err)
	}
	if cut {
		if err := r.keepLarger(ctx, org, d, s.read); err != nil {
			return nil, err
		}
	}
	now := r.Clock.Now().UTC()
	s.fetchedAt, s.sha256 = &now, s.sum.Sum(nil)
	if d.Generation > 0 && bytes.Equal(s.sha256, d.SHA256) {
		s.same = true
		return s.reading, nil
	}
	if len(s.chunks) == 0 {
		return nil, &failure{code: Empty}
	}
	s.fresh, err = r.Files.Put(ctx, org, s.contentType, s.first)
	return s.reading, err
}

// keepLarger refuses what was had in time of an address where more pages of it are found
// already. It rides knowledge_chunk_pkey.
func (r *Reader) keepLarger(ctx context.Context, org id.Org, d Document, pages int) error {
	var (
		there bool
		found int
	)
	err := r.Tenants.Read(ctx, org, func(reads *tenant.Reads) {
		reads.QueryRow(&there, []any{&found}, `
			SELECT count(DISTINCT c.url) FROM knowledge_chunk c WHERE c.org_id = $1 AND c.document_id = $2 AND c.generation = $3`,
			org, d.ID, d.Generation)
	})
	if err != nil {
		return err
	}
	if d.Generation > 0 && found > pages {
		return &failure{code: Timeout, retryable: true}
	}
	if r.Log != nil {
		r.Log.InfoContext(ctx, "crawl was cut by its time", "document", d.ID.String(), "pages", pages)
	}
	return nil
}

// take reads one page of a site.
func (s *site) take(ctx context.Context, p crawl.Page) error {
	first := s.first == nil
	if first {
		s.first, s.contentType = p.Data, p.ContentType
	}
	// The hash tells the pages apart, so that text that moved is a change.
	_, _ = io.WriteString(s.sum, p.URL+"\n")
	_, _ = s.sum.Write(p.Data)
	if s.bytes += int64(len(p.Data)); s.bytes > maxFetched {
		return &failure{code: TooLarge}
	}
	text, err := s.extract(ctx, p.ContentType, int64(len(p.Data)), bytes.NewReader(p.Data))
	switch {
	case err == nil:
	case !extract.IsFault(err), first && !errors.Is(err, extract.ErrEmpty):
		return err
	default:
		return ctx.Err()
	}
	if first {
		s.title = text.Title
		if text.Pages > 0 {
			pages := int64(text.Pages)
			s.pages = &pages
		}
	}
	chunks := chunksOf(text, p.URL)
	if len(chunks) > 0 {
		s.read++
	}
	for _, c := range chunks {
		s.chunks, s.text = append(s.chunks, c), s.text+len(c.Text)
	}
	if len(s.chunks) > maxChunks || s.text > maxText {
		return &failure{code: TooLarge}
	}
	return nil
}

// asFetchFailure says what the errors of package crawl are to a document, and
// those of the pages that it handed out.
func asFetchFailure(ctx context.Context, err error) error {
	if broken, ok := errors.AsType[*failure](err); ok {
		return broken
	}
	if broken, ok := errors.AsType[*crawl.Error](err); ok && ctx.Err() == nil {
		return &failure{code: Code(broken.Code), retryable: broken.Retryable, cause: err}
	}
	return asFailure(ctx, err)
}
