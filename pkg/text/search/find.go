package search

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"visavis.dev/pkg/base/id"
)

// The constants of BM25, tuned on the tune half of the question set: how soon
// repetition stops to count, and how much a long passage is held against.
const (
	saturation = 1.6
	lengthness = 0.6
)

// Query asks for passages.
type Query struct {
	// Language is the question's, "" when unknown.
	Language, Text string
	// Tags, when there are any, leaves the documents with at least one of them.
	Tags []string
	// DocumentLanguage, when set, leaves the documents in it.
	DocumentLanguage string
	// Without leaves out documents; nil leaves out none.
	Without func(id.Document) bool
	// Limit is how many hits at most.
	Limit int
	// Plain asks for the words themselves, and for nothing else that means the same.
	Plain bool
	// Synonyms are the asker's own; nil for none.
	Synonyms *Synonyms
}

// Hit is a passage that answers to a query.
type Hit struct {
	Document id.Document
	Passage  id.Chunk
	// Score is the BM25 sum, of use for comparing hits of one search.
	Score float64
	// Support is from 0 to 1: the share of what the question is about that the
	// passage has, each word weighed by its rarity in the pack. A word that is
	// nowhere in the pack weighs most.
	Support float64
}

// The work that one search does at most, whatever it is asked and in what pack:
// beyond it the most frequent words are left out, which weigh least. An honest
// question of 30 words in a pack of 10,000 pages stays below half of each.
const (
	maxText     = 8 << 10 // bytes of the question
	maxWords    = 256
	maxPostings = 4 << 20
	// checkEvery is how many postings are read between looks at the deadline.
	checkEvery = 1 << 16
)

// Search is Find without a deadline.
func (x *Index) Search(q Query) []Hit {
	hits, _ := x.Find(context.Background(), q)
	return hits
}

// Find answers the best passages first; equal ones are in the order of their
// ids, so that every pod answers alike. The error is the context's.
func (x *Index) Find(ctx context.Context, q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	q.Text = cutAt(q.Text, maxText)
	x.mu.RLock()
	defer x.mu.RUnlock()
	parts := x.languages()
	c := question(q, parts)
	best := best{limit: q.Limit}
	for i, p := range parts {
		if q.DocumentLanguage == "" || p.language == base(q.DocumentLanguage) {
			if err := p.search(ctx, i, c, q, &best); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(best.hits, before)
	return best.hits, nil
}

// asked is a unit of a question: what it weighs, and its postings in each part.
type asked struct {
	idf, share float64
	found      int // postings
	holders    int // passages that have it, at most
	lists      [][]list
}

// list is the postings of a term, and what the term counts beside the word that was asked.
type list struct {
	postings []posting
	share    float64
}

// sought is a question with what an index knows of its words.
type sought struct {
	words   []asked
	average float64 // length of the passages
}

// question looks a question's words up in every part.
func question(q Query, parts []*part) sought {
	var c sought
	passages, length := 0, uint64(0)
	for _, p := range parts {
		passages += p.live
		length += p.length
	}
	if passages == 0 {
		return c
	}
	c.average = max(1, float64(length)/float64(passages))
	all := 0.0
	likened := 0
	for n, u := range ask(q, parts) {
		u.joins = n < maxJoined && !q.Plain
		w := u.look(parts, false)
		if w.found == 0 && !q.Plain && likened < maxLikened {
			likened++
			w = u.look(parts, true)
		}
		w.idf = u.worth * math.Log(1+(float64(passages-w.holders)+0.5)/(float64(w.holders)+0.5))
		if w.found == 0 && !q.Plain && len(u.concepts) == 0 && u.foreign {
			w.idf *= unheardShare
		}
		all += w.idf
		if w.found > 0 {
			c.words = append(c.words, w)
		}
	}
	for i := range c.words {
		c.words[i].share = c.words[i].idf / all
	}
	c.words = affordable(c.words, maxWords, maxPostings)
	return c
}

// affordable leaves the rarest words, so many at most and with so many postings
// together, in their order.
func affordable(words []asked, most, postings int) []asked {
	total := 0
	for _, w := range words {
		total += w.found
	}
	if len(words) <= most && total <= postings {
		return words
	}
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(words[a].found, words[b].found) })
	kept := 0
	for total = 0; kept < min(most, len(order)); kept++ {
		if total += words[order[kept]].found; total > postings {
			break
		}
	}
	order = order[:kept]
	slices.Sort(order)
	out := make([]asked, len(order))
	for i, n := range order {
		out[i] = words[n]
	}
	return out
}

// look finds a unit's postings, and those of words like it where it has none.
func (u *unit) look(parts []*part, likened bool) asked {
	w := asked{lists: make([][]list, len(parts))}
	passages, own, holders := 0, 0, 0.0
	for i, p := range parts {
		passages += p.live
		rarest := p.rarest(u.own[i])
		for _, a := range u.alternatives(i, p, likened) {
			postings := p.postings(a.term)
			if len(postings) == 0 {
				continue
			}
			counts := 1.0
			if a.share < 1 && rarest > 0 {
				// "guided tour" is where a tour is, in the guide of a museum.
				counts = min(1, p.rarity(len(postings))/p.rarity(rarest))
			}
			w.lists[i] = append(w.lists[i], list{postings, a.share * counts})
			w.found += len(postings)
			holders += float64(len(postings)) * counts
			if a.share == 1 {
				own += len(postings)
			}
		}
		// Of those that a passage has, the first counts.
		slices.SortStableFunc(w.lists[i], func(a, b list) int { return cmp.Compare(b.share, a.share) })
	}
	// What a word weighs goes by the word itself, where it is.
	w.holders = min(passages, int(holders+0.5))
	if own > 0 {
		w.holders = own
	}
	return w
}

// rarest is how many passages hold the rarest of the words of a phrase that any holds, 0 where
// it is no phrase or none does.
func (p *part) rarest(words []string) (least int) {
	if len(words) < 2 {
		return 0
	}
	for _, word := range words {
		if n := len(p.postings(word)); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// rarity is what a word weighs that so many passages hold.
func (p *part) rarity(holders int) float64 {
	return math.Log(1 + (float64(p.live-min(holders, p.live))+0.5)/(float64(holders)+0.5))
}

// asker is the language a question is in: what it shows itself when the pack
// has that language, else what its asker says, else that of most passages.
func asker(q Query, parts []*part) string {
	shown, said := Detect(q.Text), base(q.Language)
	most := &part{}
	for _, p := range parts {
		if p.language == shown {
			return shown
		}
		if p.live > most.live {
			most = p
		}
	}
	if vocabularyOf(shown) != nil && !q.Plain {
		return shown
	}
	return cmp.Or(said, shown, most.language)
}

// tally is what a passage has gathered.
type tally struct {
	score, support float32
	last           int32 // the unit that was counted last, from 1
}

// scratch is a search's tallies, one for each slot, all zero between searches.
type scratch struct {
	tallies []tally
	touched []uint32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// search adds a part's best passages: word by word, each passage's share.
func (p *part) search(ctx context.Context, n int, c sought, q Query, best *best) error {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if len(s.tallies) < p.slots.length {
		s.tallies = make([]tally, p.slots.length+p.slots.length/4)
	}
	err := p.gather(ctx, c.words, n, c, s)
	for _, at := range s.touched {
		t := s.tallies[at]
		s.tallies[at] = tally{}
		if err != nil || !best.admits(float64(t.score)) {
			continue
		}
		slot := p.slots.at(int(at))
		if q.takes(slot.of) {
			best.add(Hit{slot.of.id, slot.id, float64(t.score), min(1, float64(t.support))})
		}
	}
	s.touched = s.touched[:0]
	return err
}

// takes says whether the passages of a document are asked for.
func (q *Query) takes(d *document) bool {
	return (len(q.Tags) == 0 || slices.ContainsFunc(d.tags, func(t string) bool { return slices.Contains(q.Tags, t) })) &&
		(q.Without == nil || !q.Without(d.id))
}

// gather adds up what each passage has of the words. It gives up with the context.
func (p *part) gather(ctx context.Context, words []asked, n int, c sought, s *scratch) error {
	for i, w := range words {
		for _, l := range w.lists[n] {
			for some := range slices.Chunk(l.postings, checkEvery) {
				if err := ctx.Err(); err != nil {
					return err
				}
				p.tally(some, int32(i+1), l.share, w, c, s)
			}
		}
	}
	return nil
}

// tally counts a term of a unit: of several that a passage has, the best alone.
func (p *part) tally(list []posting, unit int32, share float64, w asked, c sought, s *scratch) {
	for _, posting := range list {
		at := posting.slot()
		t := &s.tallies[at]
		switch t.last {
		case unit:
			continue
		case 0:
			s.touched = append(s.touched, at)
		}
		t.last = unit
		tf := float32(posting.count())
		norm := saturation * (1 - lengthness + lengthness*float32(p.slots.at(int(at)).length)/float32(c.average))
		t.score += float32(share*w.idf) * tf * (saturation + 1) / (tf + norm)
		t.support += float32(share * w.share)
	}
}

// before orders hits.
func before(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), bytes.Compare(a.Document[:], b.Document[:]), bytes.Compare(a.Passage[:], b.Passage[:]))
}
