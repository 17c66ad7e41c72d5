package search

import "hash/maphash"

// dictionary numbers the terms of a part: a hash table of numbers over texts
// that lie one behind the other. A map of strings would take four times as
// much for terms that occur once, and the garbage collector would walk it.
//
// The number of a term that is dropped is given to the next new one; its text
// stays as litter until the part is compacted.
type dictionary struct {
	seed maphash.Seed // a stranger's words cannot be chosen to collide
	// table has the numbers plus one, by linear probing; zero is empty. Its
	// length is a power of two, and a quarter of it at least is empty.
	table []uint32
	terms pages[term]
	texts pages[byte]
	live  int // terms
	// free is the first dropped number plus one; each names the next in at.
	free uint32
	// litter is the bytes of texts of dropped terms.
	litter int
}

// term is a word of the dictionary and where its postings are.
type term struct {
	text   uint32 // where it begins in texts
	length uint8  // at most longest
	class  uint8  // how its postings are kept, see postingLists
	count  uint32 // of its postings
	at     uint32 // the postings' place, by class
}

func newDictionary() dictionary { return dictionary{seed: maphash.MakeSeed()} }

func (d *dictionary) text(n uint32) []byte {
	t := d.terms.at(int(n))
	return d.texts.slice(int(t.text), int(t.length))
}

// find answers a term's number.
func (d *dictionary) find(text string) (n uint32, ok bool) {
	if len(d.table) == 0 {
		return 0, false
	}
	for at := d.home(maphash.String(d.seed, text)); d.table[at] != 0; at = d.after(at) {
		if n := d.table[at] - 1; string(d.text(n)) == text {
			return n, true
		}
	}
	return 0, false
}

// number is a term's number, a new one where it has none.
func (d *dictionary) number(text []byte) uint32 {
	if 4*(d.live+1) > 3*len(d.table) {
		d.rehash(max(16, 2*len(d.table)))
	}
	at := d.home(maphash.Bytes(d.seed, text))
	for ; d.table[at] != 0; at = d.after(at) {
		if n := d.table[at] - 1; string(d.text(n)) == string(text) {
			return n
		}
	}
	n := d.next()
	first, skipped := d.texts.extend(len(text))
	d.litter += first - skipped
	copy(d.texts.slice(first, len(text)), text)
	*d.terms.at(int(n)) = term{text: uint32(first), length: uint8(len(text))}
	d.table[at] = n + 1
	d.live++
	return n
}

// next is a number that is free.
func (d *dictionary) next() uint32 {
	if d.free == 0 {
		first, _ := d.terms.extend(1)
		return uint32(first)
	}
	n := d.free - 1
	d.free = d.terms.at(int(n)).at
	return n
}

// drop takes a term out.
func (d *dictionary) drop(n uint32) {
	text := d.text(n)
	at := d.home(maphash.Bytes(d.seed, text))
	for d.table[at] != n+1 {
		at = d.after(at)
	}
	d.close(at)
	d.litter += len(text)
	d.live--
	*d.terms.at(int(n)) = term{at: d.free}
	d.free = n + 1
}

// close empties a place of the table and moves those behind it up that would
// not be found across the gap.
func (d *dictionary) close(gap int) {
	for at := d.after(gap); d.table[at] != 0; at = d.after(at) {
		home := d.home(maphash.Bytes(d.seed, d.text(d.table[at]-1)))
		// It may move to the gap unless its home lies cyclically in (gap, at].
		if mask := len(d.table) - 1; (at-home)&mask >= (at-gap)&mask {
			d.table[gap], gap = d.table[at], at
		}
	}
	d.table[gap] = 0
}

func (d *dictionary) rehash(size int) {
	old := d.table
	d.table = make([]uint32, size)
	for _, entry := range old {
		if entry == 0 {
			continue
		}
		at := d.home(maphash.Bytes(d.seed, d.text(entry-1)))
		for d.table[at] != 0 {
			at = d.after(at)
		}
		d.table[at] = entry
	}
}

func (d *dictionary) home(hash uint64) int { return int(hash & uint64(len(d.table)-1)) }
func (d *dictionary) after(at int) int     { return (at + 1) & (len(d.table) - 1) }

// wasteful says whether most of what it takes is of dropped terms.
func (d *dictionary) wasteful() bool {
	return d.terms.length > 4*d.live+256 || 2*d.litter > d.texts.length+2*pageLen
}

func (d *dictionary) bytes() int64 {
	return d.terms.bytes() + d.texts.bytes() + allocated(4*len(d.table))
}
