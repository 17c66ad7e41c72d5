// Package fewtest judges in tests whether sums tell of few people. It knows nothing of the rule of package few.
package fewtest

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"visavis.dev/pkg/base/few"
)

// rank is how many of the rows depend on no others, over the rationals.
func rank(rows [][]int64) (n int) {
	var m [][]*big.Rat
	for _, r := range rows {
		var row []*big.Rat
		for _, x := range r {
			row = append(row, big.NewRat(x, 1))
		}
		m = append(m, row)
	}
	if len(m) == 0 {
		return 0
	}
	for col := 0; col < len(m[0]) && n < len(m); col++ {
		at := slices.IndexFunc(m[n:], func(r []*big.Rat) bool { return r[col].Sign() != 0 })
		if at < 0 {
			continue
		}
		m[n], m[n+at] = m[n+at], m[n]
		for i := n + 1; i < len(m); i++ {
			if m[i][col].Sign() == 0 {
				continue
			}
			by := new(big.Rat).Quo(m[i][col], m[n][col])
			for j := col; j < len(m[i]); j++ {
				m[i][j] = new(big.Rat).Sub(m[i][j], new(big.Rat).Mul(by, m[n][j]))
			}
		}
		n++
	}
	return n
}

// Fewest is of how many people some combination of sums is that is not of nobody, where one is of fewer than most people: else
// most. It knows nothing of classes: it solves what any fewer people could be worked out from. Where records of nobody
// but some people are left out, and fewer sums are independent by then, a combination of them is of those people alone.
func Fewest(told [][]few.Record, most int) int {
	var records []few.Record
	for _, set := range told {
		records = append(records, set...)
	}
	slices.SortFunc(records, func(a, b few.Record) int {
		return cmp.Or(cmp.Compare(a.Person, b.Person), cmp.Compare(a.Value, b.Value))
	})
	records = slices.Compact(records)
	// People whose records stand in the same sums are alike: whoever leaves out only some of them wins nothing.
	alike := map[string][]uint64{}
	columns := map[uint64][][]int64{}
	for _, r := range records {
		col := make([]int64, len(told))
		for i, set := range told {
			if slices.Contains(set, r) {
				col[i] = 1
			}
		}
		columns[r.Person] = append(columns[r.Person], col)
	}
	for who, cols := range columns {
		slices.SortFunc(cols, slices.Compare[[]int64])
		key := fmt.Sprint(cols)
		alike[key] = append(alike[key], who)
	}
	var kinds [][]uint64
	for _, who := range alike {
		if len(who) < most {
			kinds = append(kinds, who)
		}
	}
	without := func(gone map[uint64]bool) int {
		rows := make([][]int64, len(told))
		for who, cols := range columns {
			if gone[who] {
				continue
			}
			for _, c := range cols {
				for i, x := range c {
					rows[i] = append(rows[i], x)
				}
			}
		}
		return rank(rows)
	}
	all := without(nil)
	var leave func(from int, gone map[uint64]bool) int
	leave = func(from int, gone map[uint64]bool) int {
		if len(gone) > 0 && without(gone) < all {
			return len(gone)
		}
		for i := from; i < len(kinds); i++ {
			if len(gone)+len(kinds[i]) >= most {
				continue
			}
			next := maps.Clone(gone)
			for _, who := range kinds[i] {
				next[who] = true
			}
			if n := leave(i+1, next); n < most {
				return n
			}
		}
		return most
	}
	return leave(0, map[uint64]bool{})
}
