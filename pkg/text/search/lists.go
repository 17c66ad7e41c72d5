package search

import (
	"math/bits"
	"slices"
	"unsafe"
)

// posting is a slot and how often its passage has the term, which fits in the
// low bits.
type posting uint32

const countBits = 6 // for mostFrequent

// maxSlot is how many slots a part can have: 67 million.
const maxSlot = 1 << (32 - countBits)

func newPosting(slot uint32, count uint8) posting {
	return posting(slot<<countBits | uint32(min(count, mostFrequent)))
}

func (p posting) slot() uint32 { return uint32(p >> countBits) }
func (p posting) count() uint8 { return uint8(p & mostFrequent) }

// How a term's postings are kept, by its class: one alone in place of its
// place, some in a block of 1<<class, more than the largest block holds in a
// slice of their own.
const (
	classAlone = 0
	maxClass   = 12
	classLong  = maxClass + 1
)

// postingLists are the postings of a part's terms.
type postingLists struct {
	blocks pages[posting]
	// free are the places of the blocks of each class that are not used.
	free [maxClass + 1][]uint32
	// idle is how many postings would fit in them.
	idle int
	long [][]posting
	// longFree are the places in long that are not used.
	longFree []uint32
	// longCap is how many postings fit in long.
	longCap int
}

// of are a term's postings, by slot. They are read only, and only until the
// next change.
func (l *postingLists) of(t *term) []posting {
	switch {
	case t.count == 0:
		return nil
	case t.class == classAlone:
		return []posting{posting(t.at)}
	case t.class == classLong:
		return l.long[t.at]
	}
	return l.blocks.slice(int(t.at), int(t.count))
}

// add adds a posting at a term's end.
func (l *postingLists) add(t *term, p posting) {
	switch {
	case t.count == 0:
		t.class, t.at = classAlone, uint32(p)
	case t.class == classLong:
		list := l.long[t.at]
		before := cap(list)
		l.long[t.at] = append(list, p)
		l.longCap += cap(l.long[t.at]) - before
	default:
		if int(t.count) == 1<<t.class {
			l.move(t, int(t.count)+1)
		}
		if t.class == classLong {
			l.add(t, p)
			return
		}
		*l.blocks.at(int(t.at) + int(t.count)) = p
	}
	t.count++
}

// cut takes the postings of slots [from, end) out of a term's.
func (l *postingLists) cut(t *term, from, end uint32) {
	list := l.of(t)
	bySlot := func(p posting, slot uint32) int { return int(p.slot()) - int(slot) }
	first, _ := slices.BinarySearchFunc(list, from, bySlot)
	after, _ := slices.BinarySearchFunc(list, end, bySlot)
	if first == after {
		return
	}
	copy(list[first:], list[after:])
	t.count -= uint32(after - first)
	switch {
	case t.count == 0:
		l.release(t)
	case t.class == classLong && t.count > 1<<(maxClass-1) && cap(list) <= 4*int(t.count):
		l.long[t.at] = list[:t.count]
	case t.class == classLong, t.count == 1 && t.class != classAlone, int(t.count) < 1<<t.class/4:
		l.move(t, int(t.count))
	}
}

// move gives a term's postings a place for n.
func (l *postingLists) move(t *term, n int) {
	old, list := *t, l.of(t)[:t.count]
	switch {
	case n == 1:
		t.class, t.at = classAlone, uint32(list[0])
	case n > 1<<maxClass:
		t.class, t.at = classLong, l.allocateLong(list, n+n/4)
	default:
		t.class = uint8(bits.Len(uint(n - 1)))
		t.at = l.allocate(t.class)
		copy(l.blocks.slice(int(t.at), len(list)), list)
	}
	l.release(&old)
}

func (l *postingLists) allocate(class uint8) uint32 {
	if last := len(l.free[class]) - 1; last >= 0 {
		at := l.free[class][last]
		l.free[class] = l.free[class][:last]
		l.idle -= 1 << class
		return at
	}
	first, skipped := l.blocks.extend(1 << class)
	for skipped < first { // what the page had left serves smaller ones
		class := min(uint8(bits.Len(uint(first-skipped))-1), maxClass)
		l.free[class] = append(l.free[class], uint32(skipped))
		l.idle += 1 << class
		skipped += 1 << class
	}
	return uint32(first)
}

func (l *postingLists) allocateLong(list []posting, size int) uint32 {
	own := append(make([]posting, 0, size), list...)
	l.longCap += cap(own)
	if last := len(l.longFree) - 1; last >= 0 {
		at := l.longFree[last]
		l.longFree = l.longFree[:last]
		l.long[at] = own
		return at
	}
	l.long = append(l.long, own)
	return uint32(len(l.long) - 1)
}

// release gives a place back.
func (l *postingLists) release(t *term) {
	switch t.class {
	case classAlone:
	case classLong:
		l.longCap -= cap(l.long[t.at])
		l.long[t.at] = nil
		l.longFree = append(l.longFree, t.at)
	default:
		l.free[t.class] = append(l.free[t.class], t.at)
		l.idle += 1 << t.class
	}
}

// wasteful says whether most of what they take is idle.
func (l *postingLists) wasteful() bool { return 2*l.idle > l.blocks.length+2*pageLen }

func (l *postingLists) bytes() int64 {
	n := l.blocks.bytes() + allocated(4*l.longCap) + allocated(cap(l.long)*int(unsafe.Sizeof(l.long))) + allocated(4*cap(l.longFree))
	for _, free := range l.free {
		n += allocated(4 * cap(free))
	}
	return n
}
