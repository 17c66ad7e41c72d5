package search

import "unsafe"

const (
	pageBits = 13
	// pageLen is how many elements a page has.
	pageLen = 1 << pageBits
)

// pages is an array that grows page by page, so that growing neither copies nor
// doubles what is there. Only its first page grows in place: a small pack takes
// little. An element's place never changes.
type pages[T any] struct {
	all    [][]T
	length int // of the places given out
}

// extend gives out n places, at most a page, that lie in one page. What the
// page before had left is skipped: [skipped, first).
func (p *pages[T]) extend(n int) (first, skipped int) {
	skipped = p.length
	first = p.length
	if left := pageLen - first&(pageLen-1); n > left {
		p.grow(first>>pageBits, pageLen)
		first += left
	}
	p.length = first + n
	p.grow(first>>pageBits, p.length-first&^(pageLen-1))
	return first, skipped
}

// grow makes room for the first n elements of a page.
func (p *pages[T]) grow(page, n int) {
	if page == len(p.all) {
		p.all = append(p.all, nil)
	}
	have := len(p.all[page])
	switch {
	case n <= have:
	case page > 0:
		p.all[page] = make([]T, pageLen)
	default:
		grown := make([]T, min(pageLen, max(8, 2*have, n)))
		copy(grown, p.all[0])
		p.all[0] = grown
	}
}

func (p *pages[T]) at(i int) *T { return &p.all[i>>pageBits][i&(pageLen-1)] }

// slice is n neighbours of one page.
func (p *pages[T]) slice(first, n int) []T {
	from := first & (pageLen - 1)
	return p.all[first>>pageBits][from : from+n : from+n]
}

// bytes is what the pages take in memory.
func (p *pages[T]) bytes() int64 {
	if len(p.all) == 0 {
		return 0
	}
	var one T
	size := int(unsafe.Sizeof(one))
	return allocated(len(p.all[0])*size) + int64(len(p.all)-1)*allocated(pageLen*size) + allocated(cap(p.all)*int(unsafe.Sizeof(p.all[0])))
}
