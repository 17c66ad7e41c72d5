package search

import "unsafe"

const pointer = int(unsafe.Sizeof(uintptr(0)))

// mapSlot is what one entry of a Go map takes, in bytes: its key and value,
// a control byte, and its share of the slots that stand empty.
func mapSlot(entry int) int64 { return int64(entry+1) * 3 / 2 }

// allocated is what n bytes take of the allocator, whose sizes are steps.
func allocated(n int) int64 {
	switch {
	case n <= 8:
		return int64(n)
	case n <= 128:
		return int64(n+15) &^ 15
	}
	return int64(n) + int64(n)/16
}

// bytes is what a part takes in memory.
func (p *part) bytes() int64 {
	n := allocated(cap(p.slots)*int(unsafe.Sizeof(slot{}))) + allocated(cap(p.terms)*int(unsafe.Sizeof(term{}))) +
		allocated(cap(p.free)*4) + int64(max(p.peak, len(p.numbers)))*mapSlot(int(unsafe.Sizeof(""))+pointer)
	for i := range p.terms {
		n += allocated(len(p.terms[i].text)) + allocated(cap(p.terms[i].list)*int(unsafe.Sizeof(posting(0))))
	}
	for _, d := range p.documents {
		n += allocated(int(unsafe.Sizeof(document{}))) + allocated(cap(d.numbers)) + mapSlot(len(d.id)+pointer)
		n += allocated(cap(d.tags) * int(unsafe.Sizeof("")))
		for _, t := range d.tags {
			n += allocated(len(t))
		}
	}
	return n
}

// Postings is how many postings the words have in a language's documents: what
// a search for them has to read.
func (x *Index) Postings(language string, words ...string) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := x.parts[base(language)]
	if p == nil {
		return 0
	}
	for _, w := range words {
		for _, t := range Terms(language, w) {
			if number, ok := p.numbers[t.Text]; ok {
				n += len(p.terms[number].list)
			}
		}
	}
	return n
}
