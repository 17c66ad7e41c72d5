package knowledge

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/search"
	"visavis.dev/pkg/tenant"
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

// Searcher finds passages. It holds packs in memory and brings each up to the
// last commit before every search, so what one process changed, all find.
type Searcher struct {
	tenants *tenant.Tenants
	room    int64

	mu    sync.Mutex
	packs *simplelru.LRU[place, *pack]
	bytes int64
}

// place is where a pack is kept.
type place struct {
	org  id.Org
	base id.KnowledgeBase
}

// NewSearcher makes a searcher whose packs take about so many bytes together.
// One pack is held whatever it takes.
func NewSearcher(t *tenant.Tenants, bytes int64) *Searcher {
	s := &Searcher{tenants: t, room: bytes}
	// Bounded by bytes, not by their number.
	s.packs, _ = simplelru.NewLRU[place, *pack](1<<30, func(_ place, p *pack) { s.bytes -= p.bytes })
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
// there, or are another organisation's, have none.
func (s *Searcher) Search(ctx context.Context, org id.Org, q Query) ([]Passage, error) {
	var (
		found []Passage
		whole bool
		err   error
	)
	for range again {
		if found, whole, err = s.search(ctx, org, q); err != nil || whole {
			return found, err
		}
	}
	return found, nil
}

// search makes one search; whole says that everything it found is still there.
func (s *Searcher) search(ctx context.Context, org id.Org, q Query) (found []Passage, whole bool, err error) {
	bases := slices.Clone(q.Bases)
	slices.SortFunc(bases, func(a, b id.KnowledgeBase) int { return slices.Compare(a[:], b[:]) })
	packs, err := s.current(ctx, org, slices.Compact(bases))
	if err != nil {
		return nil, false, err
	}
	var hits []search.Hit
	for _, p := range packs {
		hits = append(hits, p.find(search.Query{
			Language: q.Language, Text: q.Text, Tags: q.Tags, DocumentLanguage: q.DocumentLanguage, Limit: q.Limit * more,
		})...)
	}
	ranked := rank(hits, q)
	return s.texts(ctx, org, ranked)
}

// ranked is a hit with its score.
type ranked struct {
	search.Hit
	score float64
}

// rank orders hits by how much of the question they cover and, among those
// alike, by how well they fit.
func rank(hits []search.Hit, q Query) []ranked {
	best := 0.0
	for _, h := range hits {
		best = max(best, h.Score)
	}
	all := make([]ranked, 0, len(hits))
	for _, h := range hits {
		if score := h.Support * (0.7 + 0.3*h.Score/best); score >= q.MinScore {
			all = append(all, ranked{h, score})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), slices.Compare(a.Passage[:], b.Passage[:]))
	})
	return all[:min(q.Limit, len(all))]
}

// loadTimeout bounds the loading of a pack, which no single caller's leaving ends.
const loadTimeout = time.Minute

// hold finds a pack, or an empty one to be loaded.
func (s *Searcher) hold(at place) *pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.packs.Get(at)
	if !ok {
		p = newPack()
		s.packs.Add(at, p)
	}
	return p
}

// measure notes what a pack takes and lets go of those not asked for lately
// until the rest fits.
func (s *Searcher) measure(at place, p *pack) {
	_, _, bytes := p.index.Size()
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.packs.Peek(at); !ok || held != p {
		return
	}
	s.bytes += bytes - p.bytes
	p.bytes = bytes
	for s.bytes > s.room && s.packs.Len() > 1 {
		s.packs.RemoveOldest()
	}
}

// drop lets go of a pack that is deleted.
func (s *Searcher) drop(at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packs.Remove(at)
}
