package knowledge

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
	"visavis.dev/pkg/text/vector"
)

// Query asks for passages of several packs.
type Query struct {
	// Text is the question, and Language its, empty when unknown.
	Text, Language string
	Bases          []id.KnowledgeBase
	// Tags leaves documents with one of them; none leaves all.
	Tags  []string
	Limit int
	// MinScore leaves passages with such a score at least.
	MinScore float64
	// DocumentLanguage, when set, leaves documents in it.
	DocumentLanguage string
	// Languages are those in which a portal's subject is looked at that is there in several: in the
	// first of them that it is in, or else in all.
	Languages []string
	// Synonyms are the asker's own; nil for none.
	Synonyms *search.Synonyms
	// WordsAlone has passages found by their words alone: no embedding connection is asked.
	WordsAlone bool
}

// Passage is one that answers to a query.
type Passage struct {
	Document             id.Document
	Base                 id.KnowledgeBase
	Chunk                id.Chunk
	Title, Heading, Text string
	// Language is the document's; empty when unknown.
	Language string
	Page     *int64
	URL      *string
	// Position counts from zero in its document.
	Position int64
	// Score is 0 to 1: how much of what is asked the passage has, and how well.
	Score float64
}

// Grounded is the score from which a passage is taken to answer a question.
const Grounded = 0.35

// ErrBusy says that a process has no room or no time for a search right now.
var ErrBusy = errors.New("there is no room for the search right now")

// ErrTooLarge says that a pack has more in it than a process holds. Packs do not
// become so, but can be from before they were bounded.
var ErrTooLarge = errors.New("the pack has more in it than can be searched")

// Searcher finds passages. It holds packs in memory, within a budget, and brings
// each up to the last commit before every search, so what one process changed,
// all find.
type Searcher struct {
	tenants *tenant.Tenants
	cache   *cache
	vectors Vectors
	// loads and searches bound what is loaded and searched at once.
	loads, searches chan struct{}
	// most bounds a pack, and tooLarge are packs that exceeded it when they were loaded,
	// with their revisions: what failed once at a revision is not loaded again.
	most     int64
	tooLarge lru.Cache[place, int64]
	metrics  *searchMetrics
}

// SearcherOptions shape a Searcher.
type SearcherOptions struct {
	// Memory is what the packs in memory take together, in bytes.
	Memory  int64
	Metrics prometheus.Registerer
	// Vectors makes a question's, for packs whose passages have some; without it passages are
	// found by their words alone.
	Vectors Vectors
}

// Vectors makes the vector of a question by an embedding connection of an organization. While
// that cannot be had, passages are found by their words alone.
type Vectors func(ctx context.Context, org id.Org, by id.Connection, text string) (vector.Space, []float32, error)

// MinSearchMemory is the least memory with which every pack can be searched: half
// of it, an organization's share, holds the largest pack.
const MinSearchMemory = 2 * mostHeld

const (
	// mostHeld bounds a pack in memory: weights are estimates.
	mostHeld = MaxPackBytes + MaxPackBytes/4
	// maxLoads is how many packs are loaded at once: each holds a connection,
	// and a document's forms beside what it fills.
	maxLoads = 2
	// mostTooLarge is how many packs are remembered as too large.
	mostTooLarge = 1000
	// searchTimeout bounds a search with the loading of its packs, and
	// loadTimeout the loading of one, which no single caller's leaving ends.
	searchTimeout = 20 * time.Second
	loadTimeout   = time.Minute
)

// NewSearcher makes a searcher.
func NewSearcher(t *tenant.Tenants, o SearcherOptions) *Searcher {
	tooLarge, err := lru.New[place, int64](mostTooLarge)
	if err != nil {
		panic(err) // the size is a constant above zero
	}
	s := &Searcher{
		tooLarge: tooLarge,
		tenants:  t, cache: newCache(o.Memory), vectors: o.Vectors, loads: make(chan struct{}, maxLoads),
		searches: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), most: mostHeld,
	}
	s.metrics = newSearchMetrics(s.cache, o.Metrics)
	return s
}

const (
	// more is how many hits are looked at for each that is asked for: how well
	// passages cover the question orders them anew.
	more = 4
	// again is how often a search is made anew because what it found was
	// changed under it.
	again = 3
)

// Search answers the best passages of packs, best first. Packs that are not
// there, or are another organization's, have none. The error can be ErrBusy or
// ErrTooLarge.
func (s *Searcher) Search(ctx context.Context, org id.Org, q Query) ([]Passage, error) {
	bounded, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	var (
		found []Passage
		whole bool
		err   error
	)
	for range again {
		if found, whole, err = s.search(bounded, org, q); err != nil || whole {
			break
		}
	}
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	if errors.Is(err, ErrBusy) {
		s.metrics.refused.Inc()
	}
	return found, err
}

// search makes one search; whole says that everything it found is still there.
func (s *Searcher) search(ctx context.Context, org id.Org, q Query) (found []Passage, whole bool, err error) {
	bases := slices.Clone(q.Bases)
	slices.SortFunc(bases, func(a, b id.KnowledgeBase) int { return slices.Compare(a[:], b[:]) })
	all, err := s.gather(ctx, org, slices.Compact(bases), q)
	if err != nil {
		return nil, false, err
	}
	return s.texts(ctx, org, rank(all, q))
}

// finds are passages as they are found: by their words, and by what they mean.
type finds struct {
	hits []search.Hit
	near []vector.Near
}

func (f *finds) add(more finds) {
	f.hits, f.near = append(f.hits, more.hits...), append(f.near, more.near...)
}

// gather finds in the packs: in those that are in memory first, with one trip to the
// database for all, then in the others, one by one. So what a question needs at
// once is one pack's memory, however many it asks.
func (s *Searcher) gather(ctx context.Context, org id.Org, bases []id.KnowledgeBase, q Query) (finds, error) {
	var held []*pack
	defer func() { s.cache.release(held...) }()
	var cold []place
	for _, b := range bases {
		p := s.cache.acquire(place{org, b})
		if p.revision.Load() >= 0 {
			held = append(held, p)
			continue
		}
		cold = append(cold, p.at)
		s.cache.release(p)
	}
	all, err := s.find(ctx, held, q)
	if err != nil {
		return finds{}, err
	}
	s.cache.release(held...)
	held = nil
	for _, at := range cold {
		more, err := s.findCold(ctx, at, q)
		if err != nil {
			return finds{}, err
		}
		all.add(more)
	}
	return all, nil
}

func (s *Searcher) findCold(ctx context.Context, at place, q Query) (finds, error) {
	p := s.cache.acquire(at)
	defer s.cache.release(p)
	if err := s.load(ctx, p); err != nil {
		return finds{}, err
	}
	return s.find(ctx, []*pack{p}, q)
}

// find finds in packs in memory, as they are now.
func (s *Searcher) find(ctx context.Context, packs []*pack, q Query) (all finds, err error) {
	current, err := s.refresh(ctx, packs)
	if err != nil {
		return finds{}, err
	}
	// The service is asked before there is a place to search: others use it meanwhile.
	questions := s.questions(ctx, current, q)
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	case <-ctx.Done():
		return finds{}, ctx.Err()
	}
	for i, p := range current {
		without := p.versions.without(q.Languages)
		hits, err := p.index.Find(ctx, search.Query{
			Language: q.Language, Text: q.Text, Tags: q.Tags, DocumentLanguage: q.DocumentLanguage, Without: without,
			Limit: q.Limit * more, Synonyms: q.Synonyms,
		})
		if err != nil {
			return finds{}, err
		}
		all.add(finds{hits, p.nearest(ctx, questions[i], without)})
	}
	return all, nil
}
