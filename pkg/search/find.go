package search

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sync"

	"visavis.dev/pkg/id"
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
	// Limit is how many hits at most.
	Limit int
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

// Search answers the best passages first; equal ones are in the order of their
// ids, so that every pod answers alike.
func (x *Index) Search(q Query) []Hit {
	if q.Limit <= 0 {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	parts := x.languages()
	c := question(q, parts)
	best := best{limit: q.Limit}
	for i, p := range parts {
		if q.DocumentLanguage == "" || p.language == base(q.DocumentLanguage) {
			p.search(c.words, i, c, q.Tags, &best)
		}
	}
	slices.SortFunc(best.hits, before)
	return best.hits
}

// asked is a word of a question: what it weighs, and its postings in each part.
type asked struct {
	idf, share float64
	lists      [][]posting
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
	for _, forms := range ask(q, parts) {
		w := asked{lists: make([][]posting, len(parts))}
		found := 0
		for i, p := range parts {
			if n, ok := p.numbers[forms[i]]; ok {
				w.lists[i] = p.terms[n].list
				found += len(w.lists[i])
			}
		}
		w.idf = math.Log(1 + (float64(passages-found)+0.5)/(float64(found)+0.5))
		all += w.idf
		if found > 0 {
			c.words = append(c.words, w)
		}
	}
	for i := range c.words {
		c.words[i].share = c.words[i].idf / all
	}
	return c
}

// ask is the terms of a question's words in each part's language, each once.
func ask(q Query, parts []*part) [][]string {
	found := split(q.Text)
	language := asker(q, parts)
	a := newAnalyser(language)
	own := make([]Term, len(found))
	for i, w := range found {
		own[i] = a.term(q.Text, w)
	}
	worth := map[int]bool{} // by where they stand
	for _, t := range essential(language, own) {
		worth[t.To<<32|t.From] = true
	}
	analysers := make([]*analyser, len(parts))
	for i, p := range parts {
		analysers[i] = newAnalyser(p.language)
	}
	var out [][]string
	for i, w := range found {
		if !worth[own[i].To<<32|own[i].From] || own[i].Text == "" {
			continue
		}
		forms := make([]string, len(parts))
		for j, a := range analysers {
			forms[j] = a.term(q.Text, w).Text
		}
		if !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, forms) }) {
			out = append(out, forms)
		}
	}
	return out
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
	return cmp.Or(said, shown, most.language)
}

// tally is what a passage has gathered.
type tally struct{ score, support float32 }

// scratch is a search's tallies, one for each slot, all zero between searches.
type scratch struct {
	tallies []tally
	touched []uint32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// search adds a part's best passages: word by word, each passage's share.
func (p *part) search(words []asked, n int, c sought, tags []string, best *best) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if len(s.tallies) < len(p.slots) {
		s.tallies = make([]tally, len(p.slots)+len(p.slots)/4)
	}
	for _, w := range words {
		for _, posting := range w.lists[n] {
			at := posting.slot()
			t := &s.tallies[at]
			if t.score == 0 {
				s.touched = append(s.touched, at)
			}
			tf := float32(posting.count())
			norm := saturation * (1 - lengthness + lengthness*float32(p.slots[at].length)/float32(c.average))
			t.score += float32(w.idf) * tf * (saturation + 1) / (tf + norm)
			t.support += float32(w.share)
		}
	}
	for _, at := range s.touched {
		t := s.tallies[at]
		s.tallies[at] = tally{}
		if !best.admits(float64(t.score)) {
			continue
		}
		slot := &p.slots[at]
		if len(tags) == 0 || slices.ContainsFunc(slot.of.tags, func(t string) bool { return slices.Contains(tags, t) }) {
			best.add(Hit{slot.of.id, slot.id, float64(t.score), min(1, float64(t.support))})
		}
	}
	s.touched = s.touched[:0]
}

// before orders hits.
func before(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), bytes.Compare(a.Document[:], b.Document[:]), bytes.Compare(a.Passage[:], b.Passage[:]))
}
