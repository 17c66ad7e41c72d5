package search

import (
	"encoding/binary"
	"slices"

	"visavis.dev/pkg/base/id"
)

// part is the documents of one language.
//
// A passage has a slot: a number that rises with every passage added. The
// postings of a term are sorted by slot without sorting, and a document's are
// neighbours in them, so that removing a document cuts a stretch out of each
// of its terms' lists: what is removed is gone, and the counts that ranking
// goes by are those of an index that never held it. A part most of which fell
// empty is compacted.
type part struct {
	language  string
	documents map[id.Document]*document
	slots     pages[slot]
	live      int    // passages
	length    uint64 // of all passages

	dictionary dictionary
	lists      postingLists

	documentBytes int64
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

func newPart(language string) *part {
	return &part{language: language, documents: map[id.Document]*document{}, dictionary: newDictionary()}
}

// postings are a term's, by slot.
func (p *part) postings(term string) []posting {
	n, ok := p.dictionary.find(term)
	if !ok {
		return nil
	}
	return p.lists.of(p.dictionary.terms.at(int(n)))
}

// add enters a document's forms, or nothing when one of them is not sound.
func (p *part) add(d *document, forms [][]byte) error {
	d.first = uint32(p.slots.length)
	var own []uint32
	err := error(nil)
	for _, form := range forms {
		var numbers []uint32
		numbers, err = p.enter(d, form)
		own = append(own, numbers...)
		if err != nil {
			break
		}
	}
	slices.Sort(own)
	d.numbers = deltas(slices.Compact(own))
	p.documents[d.id] = d
	p.documentBytes += d.bytes()
	if err != nil {
		p.remove(d.id)
	}
	return err
}

// enter decodes a form into the part, and answers the numbers of its terms.
// Nothing of it is kept: terms go into the dictionary and postings to their
// lists as they are read.
func (p *part) enter(d *document, form []byte) ([]uint32, error) {
	r, err := newReader(form, p.language)
	if err != nil {
		return nil, err
	}
	numbers := r.terms(p.dictionary.number)
	for range r.count(minPassage) {
		if p.slots.length == maxSlot {
			r.fail()
		}
		passage := r.passage()
		if r.failed {
			break
		}
		at, _ := p.slots.extend(1)
		*p.slots.at(at) = slot{passage.ID, d, uint32(passage.Length)}
		d.count++
		p.live++
		p.length += uint64(passage.Length)
		r.frequencies(numbers, func(n uint32, count uint8) {
			p.lists.add(p.dictionary.terms.at(int(n)), newPosting(uint32(at), count))
		})
	}
	if r.failed || len(r.rest) > 0 {
		err = ErrCorrupt
	}
	return slices.DeleteFunc(numbers, func(n uint32) bool {
		if p.dictionary.terms.at(int(n)).count > 0 {
			return false
		}
		p.dictionary.drop(n) // a term that no passage has
		return true
	}), err
}

func (p *part) remove(doc id.Document) {
	d := p.documents[doc]
	for n := range numbersOf(d.numbers) {
		t := p.dictionary.terms.at(int(n))
		p.lists.cut(t, d.first, d.first+d.count)
		if t.count == 0 {
			p.dictionary.drop(n)
		}
	}
	for i := d.first; i < d.first+d.count; i++ {
		s := p.slots.at(int(i))
		p.length -= uint64(s.length)
		*s = slot{}
	}
	p.live -= int(d.count)
	p.documentBytes -= d.bytes()
	delete(p.documents, doc)
	if p.slots.length > 2*p.live+64 || p.dictionary.wasteful() || p.lists.wasteful() {
		p.compact()
	}
}

// compact makes the part anew, without what was removed. The passages and the
// terms stay in their order.
func (p *part) compact() {
	fresh := newPart(p.language)
	slots := make([]uint32, p.slots.length)
	for i := range p.slots.length {
		if s := p.slots.at(i); s.of != nil {
			at, _ := fresh.slots.extend(1)
			*fresh.slots.at(at) = *s
			slots[i] = uint32(at)
		}
	}
	numbers := make([]uint32, p.dictionary.terms.length)
	for i := range numbers {
		t := p.dictionary.terms.at(i)
		if t.count == 0 {
			continue
		}
		numbers[i] = fresh.dictionary.number(p.dictionary.text(uint32(i)))
		moved := fresh.dictionary.terms.at(int(numbers[i]))
		for _, posting := range p.lists.of(t) {
			fresh.lists.add(moved, newPosting(slots[posting.slot()], posting.count()))
		}
	}
	for doc, d := range p.documents {
		if d.count > 0 {
			d.first = slots[d.first]
		}
		d.numbers = renumbered(d.numbers, numbers)
		fresh.documents[doc] = d
		fresh.documentBytes += d.bytes()
	}
	fresh.live, fresh.length = p.live, p.length
	*p = *fresh
}

// deltas writes sorted numbers as varints of their differences.
func deltas(numbers []uint32) []byte {
	var b []byte
	before := uint32(0)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n-before))
		before = n
	}
	return slices.Clip(slices.Clone(b))
}

// numbersOf reads what deltas wrote.
func numbersOf(deltas []byte) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		n := uint32(0)
		for rest := deltas; len(rest) > 0; {
			skip, size := binary.Uvarint(rest)
			rest = rest[size:]
			if n += uint32(skip); !yield(n) {
				return
			}
		}
	}
}

// renumbered rewrites a document's numbers; they stay in order.
func renumbered(old []byte, moved []uint32) []byte {
	var numbers []uint32
	for n := range numbersOf(old) {
		numbers = append(numbers, moved[n])
	}
	return deltas(numbers)
}
