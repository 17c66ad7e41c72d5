package search

import (
	"slices"
	"strings"
	"sync"

	"visavis.dev/pkg/base/id"
)

// Index is the passages of one knowledge pack. Searches run beside one
// another; Add and Remove hold them up for the time one document takes.
type Index struct {
	mu sync.RWMutex
	// parts are the documents of each language.
	parts map[string]*part
	// where says in which part a document is.
	where map[id.Document]*part
}

// New makes an index of nothing.
func New() *Index {
	return &Index{parts: map[string]*part{}, where: map[id.Document]*part{}}
}

// Add enters a document, in place of an earlier one of the same id. The
// language is the one it was analysed in, and the forms are what [Analysed.Marshal]
// wrote, of all its passages. What it is given stays the caller's. With an error,
// ErrVersion or ErrCorrupt, nothing of the document is there.
func (x *Index) Add(doc id.Document, tags []string, language string, forms ...[]byte) error {
	code := base(language)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(doc)
	p := x.parts[code]
	if p == nil {
		p = newPart(code)
		x.parts[code] = p
	}
	own := make([]string, len(tags))
	for i, t := range tags {
		own[i] = strings.Clone(t)
	}
	x.where[doc] = p
	if err := p.add(&document{id: doc, tags: own}, forms); err != nil {
		x.forget(doc, p)
		return err
	}
	return nil
}

// Remove takes a document out, if it is there.
func (x *Index) Remove(doc id.Document) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(doc)
}

func (x *Index) remove(doc id.Document) {
	if p := x.where[doc]; p != nil {
		p.remove(doc)
		x.forget(doc, p)
	}
}

func (x *Index) forget(doc id.Document, p *part) {
	delete(x.where, doc)
	if len(p.documents) == 0 {
		delete(x.parts, p.language)
	}
}

// Size is how many documents and passages there are and what they take in
// memory, in bytes: counted as it grows, not by walking it, and less than a
// fifth off what the allocator gives.
func (x *Index) Size() (documents, passages int, bytes int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, p := range x.parts {
		passages += p.live
		bytes += p.bytes()
	}
	return len(x.where), passages, bytes
}

// languages are the parts in the order of their codes, so that all pods sum
// and rank alike.
func (x *Index) languages() []*part {
	out := make([]*part, 0, len(x.parts))
	for _, p := range x.parts {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *part) int { return strings.Compare(a.language, b.language) })
	return out
}
