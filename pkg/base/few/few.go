// Package few keeps figures from telling of few people: neither by themselves, nor as the
// difference of two that are told beside each other.
package few

import (
	"cmp"
	"slices"
)

// Least is how many people a figure is about at least: those of five and fewer are told nobody.
const Least = 6

// May says whether a figure about so many people may be told: about nobody, or about enough.
func May(n int64) bool { return n == 0 || n >= Least }

// Apart says whether a figure may be told beside others of the same people: it is about enough,
// and so is its difference from each of them. Others that are nil are not told.
func Apart(n int64, others ...*int64) bool {
	for _, o := range others {
		if o != nil && !May(max(n-*o, *o-n)) {
			return false
		}
	}
	return May(n)
}

// Totals chooses which totals of a row of blocks are told: of people who are in one block each,
// those of total i are in block i or a later one. The wanted come first, in their order, as
// far as neither a total nor the difference of two is of few. What is chosen is answered in
// the order of the blocks.
func Totals(blocks []int64, wanted []int) (told []int) {
	totals := make([]int64, len(blocks)+1)
	for i := len(blocks) - 1; i >= 0; i-- {
		totals[i] = totals[i+1] + blocks[i]
	}
	for _, at := range wanted {
		fits := May(totals[at]) && !slices.ContainsFunc(told, func(t int) bool { return !May(max(totals[t]-totals[at], totals[at]-totals[t])) })
		if fits && !slices.Contains(told, at) {
			told = append(told, at)
		}
	}
	slices.Sort(told)
	return told
}

// Groups chooses which groups are told by themselves, beside the sum of all: those that are large
// enough, but so that those that are not are enough together, so that the sum does not
// tell of few of them.
func Groups(sizes []int64) (told []bool) {
	told = make([]bool, len(sizes))
	order := make([]int, len(sizes))
	var rest int64
	for i, n := range sizes {
		order[i] = i
		if told[i] = May(n); !told[i] {
			rest += n
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	for _, i := range order {
		if !May(rest) && told[i] && sizes[i] > 0 {
			told[i] = false
			rest += sizes[i]
		}
	}
	return told
}

// Merge puts neighbors together until each block has enough people, and answers where each begins:
// blocks from one of them up to the next are told as one. It is empty where all are too few.
func Merge(blocks []int64) (begins []int) {
	var all int64
	for _, n := range blocks {
		all += n
	}
	if all < Least {
		return nil
	}
	left, sum := all, int64(0)
	for i, n := range blocks {
		if n == 0 && sum == 0 {
			continue // nobody to begin with
		}
		if sum == 0 && (len(begins) == 0 || left >= Least) {
			begins = append(begins, i)
		}
		sum += n
		left -= n
		if sum >= Least && left >= Least {
			sum = 0
		}
	}
	return begins
}
