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
	case n <= 32<<10:
		return int64(n) + int64(n)/16
	}
	return int64(n+8191) &^ 8191
}

// bytes is what a part takes in memory, without walking it.
func (p *part) bytes() int64 {
	return p.slots.bytes() + p.dictionary.bytes() + p.lists.bytes() + p.documentBytes
}

// bytes is what a document takes beside its postings.
func (d *document) bytes() int64 {
	n := allocated(int(unsafe.Sizeof(document{}))) + allocated(cap(d.numbers)) + 2*mapSlot(len(d.id)+pointer)
	n += allocated(cap(d.tags) * int(unsafe.Sizeof("")))
	for _, t := range d.tags {
		n += allocated(len(t))
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
			n += len(p.postings(t.Text))
		}
	}
	return n
}
