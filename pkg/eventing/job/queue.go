package job

import (
	"maps"
	"slices"
	"sync"

	"visavis.dev/pkg/base/id"
)

// line is where jobs of some kinds wait: all heavy, or none.
type line struct {
	heavy bool
	kinds []Kind
	// fetches is whether they get pages of a site (see Fetching); nil for either.
	fetches *bool
}

// heavyLine is where jobs of heavy kinds wait.
func heavyLine(kinds []Kind) line { return line{heavy: true, kinds: kinds} }

// fetching are the jobs of the line that get pages of a site, or those that do not.
func (l line) fetching(fetches bool) line {
	l.fetches = &fetches
	return l
}

// queue begins the heavy jobs of a line, so many at a time in this process. The
// organizations of a shard take turns, and none has more than so many under way, however
// many of its jobs were due before those of others.
type queue struct {
	name string
	line
	// places bounds the steps under way.
	places chan struct{}
	ofOne  int

	mu sync.Mutex
	// underWay counts each organization's steps, and served are those of each shard that
	// had their turn in this round.
	underWay map[id.Org]int
	served   map[string][]id.Org
}

func newQueue(name string, l line, atOnce, ofOne int) *queue {
	return &queue{
		name: name, line: l, places: make(chan struct{}, atOnce), ofOne: ofOne,
		underWay: map[id.Org]int{}, served: map[string][]id.Org{},
	}
}

// but are the organizations whose turn it is not: those with their share under way, and
// those that were served in this round.
func (q *queue) but(shard string) (full, served []id.Org) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full = slices.DeleteFunc(slices.Collect(maps.Keys(q.underWay)), func(org id.Org) bool { return q.underWay[org] < q.ofOne })
	return full, slices.Clone(q.served[shard])
}

// enter counts a step that begins; whoever made it calls leave.
func (q *queue) enter(shard string, org id.Org) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.underWay[org]++
	q.served[shard] = append(q.served[shard], org)
}

// leave counts a step that ended, and frees its place.
func (q *queue) leave(org id.Org) {
	q.mu.Lock()
	if q.underWay[org]--; q.underWay[org] == 0 {
		delete(q.underWay, org)
	}
	q.mu.Unlock()
	<-q.places
}

// pass ends an organization's turn in which nothing was begun.
func (q *queue) pass(shard string, org id.Org) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.served[shard] = append(q.served[shard], org)
}

// newRound lets every organization of a shard have its turn again.
func (q *queue) newRound(shard string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.served, shard)
}
