package search

import (
	"encoding/binary"
	"slices"
	"strings"

	"visavis.dev/pkg/id"
)

// part is the documents of one language.
//
// A passage has a slot: a number that rises with every passage added. The
// postings of a term are sorted by slot without sorting, and a document's are
// neighbours in them, so that removing a document cuts a stretch out of each
// of its terms' lists: what is removed is gone, and the counts that ranking
// goes by are those of an index that never held it. Slots that fell empty are
// closed up when they are more than the others, and a dictionary that has lost
// most of its terms is made anew.
type part struct {
	language  string
	documents map[id.Document]*document
	slots     []slot
	live      int
	length    uint64 // of all passages

	numbers map[string]uint32 // of the terms
	terms   []term
	free    []uint32 // numbers of terms that are gone
	peak    int      // the most terms since numbers was made
}

// document is what is kept of one: where its passages are, and its terms'
// numbers, sorted, as varints of their differences.
type document struct {
	id      id.Document
	tags    []string
	first   uint32
	count   uint32
	numbers []byte
}

// slot is a passage's place; an empty one has no document.
type slot struct {
	id     id.Chunk
	of     *document
	length uint32
}

type term struct {
	text string
	list []posting
}

// posting is a slot and how often its passage has the term, which fits in the
// low bits.
type posting uint32

const countBits = 6 // for mostFrequent

// maxSlot is how many slots a part can have: 67 million.
const maxSlot = 1 << (32 - countBits)

func newPosting(slot uint32, count uint8) posting {
	return posting(slot<<countBits | uint32(min(count, mostFrequent)))
}

func (p posting) slot() uint32  { return uint32(p >> countBits) }
func (p posting) count() uint32 { return uint32(p & mostFrequent) }

func newPart(language string) *part {
	return &part{language: language, documents: map[id.Document]*document{}, numbers: map[string]uint32{}}
}

func (p *part) add(d *document, a Analysed) {
	if len(p.slots)+len(a.Passages) > maxSlot {
		p.closeUp()
	}
	d.first, d.count = uint32(len(p.slots)), uint32(len(a.Passages))
	var own []uint32
	for i, passage := range a.Passages {
		for _, f := range passage.Terms {
			n := p.number(f.Term)
			t := &p.terms[n]
			if len(t.list) == 0 || t.list[len(t.list)-1].slot() < d.first {
				own = append(own, n)
			}
			t.list = append(t.list, newPosting(d.first+uint32(i), f.Count))
		}
		p.slots = append(p.slots, slot{passage.ID, d, uint32(passage.Length)})
		p.length += uint64(passage.Length)
	}
	p.live += len(a.Passages)
	slices.Sort(own)
	var b []byte
	before := uint32(0)
	for _, n := range own {
		b = binary.AppendUvarint(b, uint64(n-before))
		before = n
	}
	d.numbers = slices.Clone(b)
	p.documents[d.id] = d
}

// number is a term's number, a new one where it has none.
func (p *part) number(text string) uint32 {
	if n, ok := p.numbers[text]; ok {
		return n
	}
	text = strings.Clone(text) // or it would keep the whole it was cut from
	if last := len(p.free) - 1; last >= 0 {
		n := p.free[last]
		p.free = p.free[:last]
		p.numbers[text], p.terms[n].text = n, text
		return n
	}
	n := uint32(len(p.terms))
	p.terms = append(p.terms, term{text: text})
	p.numbers[text] = n
	p.peak = max(p.peak, len(p.numbers))
	return n
}

func (p *part) remove(doc id.Document) {
	d := p.documents[doc]
	n := uint32(0)
	for rest := d.numbers; len(rest) > 0; {
		skip, size := binary.Uvarint(rest)
		rest = rest[size:]
		n += uint32(skip)
		p.cut(n, d.first, d.first+d.count)
	}
	for i := d.first; i < d.first+d.count; i++ {
		p.length -= uint64(p.slots[i].length)
		p.slots[i] = slot{}
	}
	p.live -= int(d.count)
	delete(p.documents, doc)
	if len(p.slots) > 2*p.live+64 {
		p.closeUp()
	}
	if p.peak > 4*len(p.numbers)+256 {
		p.renumber()
	}
}

// cut takes the postings of slots [from, end) out of a term's list.
func (p *part) cut(n, from, end uint32) {
	t := &p.terms[n]
	bySlot := func(p posting, slot uint32) int { return int(p.slot()) - int(slot) }
	first, _ := slices.BinarySearchFunc(t.list, from, bySlot)
	after, _ := slices.BinarySearchFunc(t.list, end, bySlot)
	t.list = slices.Delete(t.list, first, after)
	switch {
	case len(t.list) == 0:
		delete(p.numbers, t.text)
		*t = term{}
		p.free = append(p.free, n)
	case cap(t.list) > 4*len(t.list):
		t.list = slices.Clone(t.list)
	}
}

// closeUp gives the passages the lowest slots, in their order.
func (p *part) closeUp() {
	moved := make([]uint32, len(p.slots))
	kept := make([]slot, 0, p.live)
	for i, s := range p.slots {
		moved[i] = uint32(len(kept))
		if s.of != nil {
			kept = append(kept, s)
		}
	}
	for _, t := range p.terms {
		for i, posting := range t.list {
			t.list[i] = newPosting(moved[posting.slot()], uint8(posting.count()))
		}
	}
	for _, d := range p.documents {
		if d.count > 0 {
			d.first = moved[d.first]
		}
	}
	p.slots = kept
}

// renumber makes the dictionary anew: a Go map never shrinks.
func (p *part) renumber() {
	terms := make([]term, 0, len(p.numbers))
	numbers := make(map[string]uint32, len(p.numbers))
	moved := make([]uint32, len(p.terms))
	for n, t := range p.terms {
		moved[n] = uint32(len(terms))
		if len(t.list) > 0 {
			numbers[t.text] = uint32(len(terms))
			terms = append(terms, t)
		}
	}
	for _, d := range p.documents {
		d.numbers = renumbered(d.numbers, moved)
	}
	p.terms, p.numbers, p.free, p.peak = terms, numbers, nil, len(terms)
}

// renumbered rewrites a document's numbers; they stay in order.
func renumbered(numbers []byte, moved []uint32) []byte {
	out := make([]byte, 0, len(numbers))
	n, before := uint32(0), uint32(0)
	for len(numbers) > 0 {
		skip, size := binary.Uvarint(numbers)
		numbers = numbers[size:]
		n += uint32(skip)
		out = binary.AppendUvarint(out, uint64(moved[n]-before))
		before = moved[n]
	}
	return slices.Clone(out)
}
