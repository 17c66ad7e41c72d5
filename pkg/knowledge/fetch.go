package knowledge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"visavis.dev/pkg/crawl"
	"visavis.dev/pkg/extract"
	"visavis.dev/pkg/id"
)

// site is what is fetched of an address.
type site struct {
	*reading
	sum     hash.Hash
	extract extract.Read
	// text is how long the passages are in all.
	text int
	// first is the page at the address itself: the document's original.
	first []byte
}

// fetch gets an address and reads its pages. A page that cannot be read is
// passed by, but not the first.
func (r *Reader) fetch(ctx context.Context, org id.Org, d Document) (*reading, error) {
	s := &site{reading: &reading{}, sum: sha256.New(), extract: r.Extract}
	options := crawl.Options{Depth: int(d.CrawlDepth), MaxPages: max(int(d.CrawlPages), 1), MaxBytes: maxFetched}
	err := r.Fetch(ctx, *d.URL, options, func(p crawl.Page) error { return s.take(ctx, p) })
	if err != nil {
		return nil, asFetchFailure(ctx, err)
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
	for _, c := range chunksOf(text, p.URL) {
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
