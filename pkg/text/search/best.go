package search

import "container/heap"

// best is the best hits so far, as a heap with the worst of them on top.
type best struct {
	hits  []Hit
	limit int
}

func (b *best) Len() int           { return len(b.hits) }
func (b *best) Less(i, j int) bool { return before(b.hits[i], b.hits[j]) > 0 }
func (b *best) Swap(i, j int)      { b.hits[i], b.hits[j] = b.hits[j], b.hits[i] }

// Push and Pop are for container/heap.
func (b *best) Push(x any) { b.hits = append(b.hits, x.(Hit)) }

// Pop takes the last one off.
func (b *best) Pop() any {
	last := b.hits[len(b.hits)-1]
	b.hits = b.hits[:len(b.hits)-1]
	return last
}

// admits says whether a hit of that score could still be among the best.
func (b *best) admits(score float64) bool {
	return len(b.hits) < b.limit || score >= b.hits[0].Score
}

func (b *best) add(h Hit) {
	switch {
	case len(b.hits) < b.limit:
		heap.Push(b, h)
	case before(h, b.hits[0]) < 0:
		b.hits[0] = h
		heap.Fix(b, 0)
	}
}
