package knowledge

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/vector"
)

// ranked is a passage with its score.
type ranked struct {
	passage  id.Chunk
	document id.Document
	score    float64
}

// rank orders passages by how much of the question they cover and, among those alike, by how
// well they fit. How near one is in what it means counts as much as words do: a passage that
// is found by both has more than by either, and no score is above 1.
func rank(found finds, q Query) []ranked {
	best := 0.0
	for _, h := range found.hits {
		best = max(best, h.Score)
	}
	near := make(map[id.Chunk]float64, len(found.near))
	for _, n := range found.near {
		near[n.Passage] = max(near[n.Passage], n.Score)
	}
	all := make([]ranked, 0, len(found.hits)+len(found.near))
	for _, h := range found.hits {
		byWords := h.Support * (0.7 + 0.3*h.Score/best)
		all = append(all, ranked{h.Passage, h.Document, 1 - (1-byWords)*(1-near[h.Passage])})
		delete(near, h.Passage)
	}
	for _, n := range found.near {
		if score, left := near[n.Passage]; left && score > 0 {
			all = append(all, ranked{n.Passage, n.Document, score})
			delete(near, n.Passage)
		}
	}
	all = slices.DeleteFunc(all, func(r ranked) bool { return r.score < q.MinScore })
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), slices.Compare(a.passage[:], b.passage[:]))
	})
	return all[:min(q.Limit, len(all))]
}

// questions are a question as the vectors of packs are compared with it; nil for a pack
// without any, or while its connection cannot be asked. Connections are asked side by side, each
// once: who makes the vectors bounds how long that takes, and remembers them.
func (s *Searcher) questions(ctx context.Context, packs []current, q Query) []*vector.Question {
	all := make([]*vector.Question, len(packs))
	if s.vectors == nil || q.WordsAlone {
		return all
	}
	made := map[id.Connection]*vector.Question{}
	var asks sync.WaitGroup
	for _, p := range packs {
		if p.connection.IsZero() || made[p.connection] != nil || !p.hasVectors() {
			continue
		}
		of := &vector.Question{Tags: q.Tags, Language: q.DocumentLanguage, Limit: q.Limit * more}
		made[p.connection] = of
		asks.Go(func() {
			var err error
			if of.Space, of.Vector, err = s.vectors(ctx, p.at.org, p.connection, q.Text); err != nil {
				of.Vector = nil
				s.metrics.wordsAlone.Inc()
			}
		})
	}
	asks.Wait()
	for i, p := range packs {
		if of := made[p.connection]; of != nil && of.Vector != nil {
			all[i] = of
		}
	}
	return all
}

// nearest are the passages of a pack that are nearest to a question, without some documents;
// none for nil.
func (p *pack) nearest(ctx context.Context, q *vector.Question, without func(id.Document) bool) []vector.Near {
	if q == nil {
		return nil
	}
	asked := *q
	asked.Without = without
	p.vectorsMu.RLock()
	defer p.vectorsMu.RUnlock()
	return p.vectors.Nearest(ctx, asked)
}

func (p *pack) hasVectors() bool {
	p.vectorsMu.RLock()
	defer p.vectorsMu.RUnlock()
	return p.vectors.Bytes() > 0
}
