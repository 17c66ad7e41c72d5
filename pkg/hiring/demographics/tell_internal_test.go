package demographics

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// random is a cohort of people, most of them of a few categories.
func random(r *rand.Rand) []person {
	races := Races()[:1+r.IntN(3)]
	if r.IntN(2) == 0 {
		races = append(races, UnknownRace)
	}
	n := 10 + r.IntN(150)
	skew := 1 + r.IntN(3)
	rare := r.IntN(12)
	people := make([]person, n)
	for i := range people {
		race := races[min(r.IntN(len(races)*skew), len(races)-1)]
		people[i] = person{Answer{Sexes()[min(r.IntN(2+skew), 2)], race}, r.IntN(rare+2) == 0}
	}
	return people
}

// within says whether a vector is a sum of multiples of others.
func within(others [][]*big.Rat, v []*big.Rat) bool {
	rows := make([][]*big.Rat, 0, len(others)+1)
	for _, o := range append(append([][]*big.Rat{}, others...), v) {
		row := make([]*big.Rat, len(o))
		for i, x := range o {
			row[i] = new(big.Rat).Set(x)
		}
		rows = append(rows, row)
	}
	last := rows[len(rows)-1]
	used := 0
	for column := range v {
		pivot := -1
		for i := used; i < len(rows)-1; i++ {
			if rows[i][column].Sign() != 0 {
				pivot = i
				break
			}
		}
		if pivot < 0 {
			continue
		}
		rows[used], rows[pivot] = rows[pivot], rows[used]
		for i := used + 1; i < len(rows); i++ {
			if rows[i][column].Sign() == 0 {
				continue
			}
			by := new(big.Rat).Quo(rows[i][column], rows[used][column])
			for j := range v {
				rows[i][j].Sub(rows[i][j], new(big.Rat).Mul(by, rows[used][j]))
			}
		}
		used++
	}
	for _, x := range last {
		if x.Sign() != 0 {
			return false
		}
	}
	return true
}

// Whatever is told of a cohort, no sum of multiples of it is about a group of people of some
// categories of whom fewer than five were selected, or were not.
func TestNoSmallGroupCanBeWorkedOut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	told, few := 0, 0
	for range 120 {
		people := random(r)
		counts := tell(people)
		table, _ := tabulate(people)
		var cells []Answer
		for a := range table {
			cells = append(cells, a)
		}
		if len(cells) > 9 {
			continue
		}
		if counts.ok() {
			told += len(counts.Told)
		} else {
			require.Empty(t, counts.Told)
		}
		vector := func(in func(Answer) bool) []*big.Rat {
			v := make([]*big.Rat, len(cells))
			for i, a := range cells {
				if v[i] = new(big.Rat); in(a) {
					v[i].SetInt64(1)
				}
			}
			return v
		}
		known := [][]*big.Rat{vector(func(Answer) bool { return true })}
		for _, c := range counts.Told {
			known = append(known, vector(func(a Answer) bool { return (c.Sex == "" || c.Sex == a.Sex) && (c.Race == "" || c.Race == a.Race) }))
		}
		for group := 1; group < 1<<len(cells)-1; group++ {
			var n Count
			for i, a := range cells {
				if group>>i&1 == 1 {
					n = n.plus(table[a])
				}
			}
			if n.ok() || !counts.ok() {
				continue
			}
			few++
			at := 0
			inGroup := vector(func(Answer) bool { at++; return group>>(at-1)&1 == 1 })
			require.False(t, within(known, inGroup), "%v of %v with %v told", inGroup, table, counts.Told)
		}
	}
	require.Greater(t, told, 100, "something is told")
	require.Greater(t, few, 1000, "there are small groups")
}

// What is told is what a recount of the people says.
func TestWhatIsToldIsCounted(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		people := random(r)
		counts := tell(people)
		recount := func(c Told) (n Count) {
			for _, p := range people {
				if (c.Sex == "" || c.Sex == p.Sex) && (c.Race == "" || c.Race == p.Race) {
					n.Applicants++
					if p.selected {
						n.Selected++
					}
				}
			}
			return n
		}
		require.Equal(t, recount(Told{}), counts.Count)
		for _, c := range counts.Told {
			require.Equal(t, recount(c), c.Count)
			require.True(t, c.ok(), c)
		}
	}
}

// A cohort that is large and mixed is told in full, both sexes and all races.
func TestALargeCohortIsTold(t *testing.T) {
	t.Parallel()
	var people []person
	for _, s := range Sexes()[:2] {
		for _, race := range []Race{White, Black, Asian} {
			for i := range 30 {
				people = append(people, person{Answer{s, race}, i < 10})
			}
		}
	}
	require.Len(t, tell(people).Told, 2+3+6)
	// Three Asian women more, one of them selected: neither they nor the men, by whom they would be
	// known, are told.
	people = append(people, person{Answer{Female, Native}, true}, person{Answer{Female, Native}, false}, person{Answer{Female, Native}, false})
	for _, c := range tell(people).Told {
		require.NotEqual(t, Native, c.Race)
	}
}

// has says whether a cell is within a category.
func (c Told) has(a Answer) bool {
	return (c.Sex == "" || c.Sex == a.Sex) && (c.Race == "" || c.Race == a.Race)
}

// nobody are the cells in which it is known that there is nobody of some people: what is left of a line
// without some lines within it that have nobody in common is nobody.
func nobody(lines []Told, of func(Count) int64) map[Answer]bool {
	known := map[Answer]bool{}
	var without func(left map[Answer]bool, n int64, rest []Told)
	without = func(left map[Answer]bool, n int64, rest []Told) {
		if n == 0 {
			for a := range left {
				known[a] = true
			}
			return
		}
		for i, one := range rest {
			smaller, inside := map[Answer]bool{}, true
			for _, sex := range Sexes() {
				for _, race := range Races() {
					a := Answer{sex, race}
					inside = inside && (!one.has(a) || left[a])
					if left[a] && !one.has(a) {
						smaller[a] = true
					}
				}
			}
			if inside {
				without(smaller, n-of(one.Count), rest[i+1:])
			}
		}
	}
	for _, whole := range lines {
		cells := map[Answer]bool{}
		for _, sex := range Sexes() {
			for _, race := range Races() {
				if whole.has(Answer{sex, race}) {
					cells[Answer{sex, race}] = true
				}
			}
		}
		without(cells, of(whole.Count), lines)
	}
	return known
}

// Whatever is told of a cohort, nobody knows of all who were selected, or of all who were not, that they
// said the same sex or the same race, or nothing.
func TestNobodyIsKnownToBeLikeAllOthers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	told := 0
	for range 300 {
		people := random(r)
		if r.IntN(2) == 0 { // those of one category are rarely selected, or always
			a, selected := people[0].Answer, r.IntN(2) == 0
			for i := range people {
				if people[i].Sex == a.Sex || people[i].Race == a.Race && r.IntN(9) > 0 {
					people[i].selected = selected
				}
			}
		}
		counts := tell(people)
		told += len(counts.Told)
		lines := append([]Told{{Count: counts.Count}}, counts.Told...)
		for _, of := range []func(Count) int64{func(n Count) int64 { return n.Selected }, func(n Count) int64 { return n.Applicants - n.Selected }} {
			if of(counts.Count) == 0 {
				continue
			}
			sexes, races, known := map[Sex]bool{}, map[Race]bool{}, nobody(lines, of)
			for _, sex := range Sexes() {
				for _, race := range Races() {
					if !known[Answer{sex, race}] {
						sexes[sex], races[race] = true, true
					}
				}
			}
			delete(sexes, UnknownSex)
			delete(races, UnknownRace)
			require.Len(t, sexes, 2, "%v", lines)
			require.Greater(t, len(races), 1, "%v", lines)
		}
	}
	require.Greater(t, told, 100, "something is told")
}

// Where all who were selected, or all who were not, are of one category, it is not told.
func TestWhoAreAlikeAreNotTold(t *testing.T) {
	t.Parallel()
	some := func(a Answer, n, selected int) (people []person) {
		for i := range n {
			people = append(people, person{a, i < selected})
		}
		return people
	}
	fw, mw, fb, mb := Answer{Female, White}, Answer{Male, White}, Answer{Female, Black}, Answer{Male, Black}
	fa := Answer{Female, Asian}
	for name, c := range map[string]struct {
		people [][]person
		told   int
	}{
		"all men are selected, and nobody else":  {[][]person{some(fw, 10, 0), some(mw, 10, 10)}, 0},
		"only women are":                         {[][]person{some(fw, 10, 5), some(mw, 10, 0)}, 0},
		"only women and who did not say are":     {[][]person{some(fw, 10, 5), some(mw, 10, 0), some(unknown, 10, 5)}, 2},
		"all are women":                          {[][]person{some(fw, 20, 10)}, 0},
		"all are women, of two races":            {[][]person{some(fw, 20, 10), some(fb, 20, 10)}, 2},
		"nobody of one of three races is":        {[][]person{some(fw, 20, 10), some(fb, 20, 10), some(fa, 20, 0)}, 3},
		"all selected women are of one race":     {[][]person{some(fw, 20, 10), some(fb, 20, 0), some(mw, 20, 10), some(mb, 20, 10)}, 4},
		"everybody is of every category somehow": {[][]person{some(fw, 20, 10), some(fb, 20, 10), some(mw, 20, 10), some(mb, 20, 10)}, 8},
	} {
		require.Len(t, tell(slices.Concat(c.people...)).Told, c.told, name)
	}
}

// The ratios are those of the law's own example: to the most selected category.
func TestRatios(t *testing.T) {
	t.Parallel()
	s := newSums()
	s.add(Counts{Count{3000, 1200}, []Told{
		{Sex: Male, Count: Count{1390, 667}}, {Sex: Female, Count: Count{1181, 555}}, {Sex: UnknownSex, Count: Count{400, 0}},
		{Race: White, Count: Count{1000, 500}}, {Race: Black, Count: Count{500, 190}}, {Race: Native, Count: Count{20, 20}},
	}})
	a := s.audit(true)
	require.Len(t, a.Sexes.Lines, 2)
	require.InDelta(t, 0.46994, *a.Sexes.Lines[0].Rate, 1e-5)
	require.InDelta(t, 0.97933, *a.Sexes.Lines[0].Ratio, 1e-5)
	require.False(t, a.Sexes.Lines[0].Flagged)
	require.InDelta(t, 1, *a.Sexes.Lines[1].Ratio, 1e-9)
	require.Equal(t, Count{400, 0}, a.Sexes.Unknown)
	require.EqualValues(t, 29, a.Sexes.Untold)
	white, black, native := a.Races.Lines[0], a.Races.Lines[1], a.Races.Lines[2]
	require.True(t, native.LeftOut)
	require.Nil(t, native.Ratio)
	require.InDelta(t, 1, *white.Ratio, 1e-9)
	require.InDelta(t, 0.76, *black.Ratio, 1e-9)
	require.True(t, black.Flagged)
	all := s.audit(false)
	require.InDelta(t, 0.5, *all.Races.Lines[0].Ratio, 1e-9, "to those of whom all were selected")
	require.Empty(t, all.Both.Lines)
	require.EqualValues(t, 3000, all.Both.Untold)
}

// Rates are compared of the same cohorts: a category that is told of some of them alone has no ratio.
func TestRatiosAreOfTheSameCohorts(t *testing.T) {
	t.Parallel()
	s := newSums()
	s.add(Counts{Count{200, 100}, []Told{{Race: White, Count: Count{100, 50}}, {Race: Black, Count: Count{100, 50}}}})
	s.add(Counts{Count{200, 20}, []Told{{Sex: Female, Count: Count{100, 10}}, {Race: White, Count: Count{100, 10}}, {Race: Black, Count: Count{50, 5}}, {Race: Asian, Count: Count{50, 5}}}})
	a := s.audit(false)
	require.Nil(t, a.Sexes.Lines[0].Ratio, "it alone is told")
	for _, l := range a.Races.Lines {
		if l.Race == Asian {
			require.Nil(t, l.Ratio, "nobody of the first cohort is compared")
			require.NotNil(t, l.Rate)
			continue
		}
		require.NotNil(t, l.Ratio)
		require.False(t, l.Flagged, l)
	}
}
