package demographics

import (
	"cmp"
	"slices"
)

// table is a cohort by sex and race.
type table map[Answer]Count

func tabulate(people []person) (t table, all Count) {
	t = table{}
	for _, p := range people {
		one := Count{Applicants: 1}
		if p.selected {
			one.Selected = 1
		}
		t[p.Answer] = t[p.Answer].plus(one)
		all = all.plus(one)
	}
	return t, all
}

// telling is what of a table is told.
type telling struct {
	table table
	sexes map[Sex]bool
	races map[Race]bool
	cells map[Answer]bool
}

// tell chooses what is told of a cohort: sexes first, then races, then both together, the larger
// first. A category is told where that leaves nothing to be worked out that must not be known.
func tell(people []person) Counts {
	t, all := tabulate(people)
	told := Counts{Count: all, Told: []Told{}}
	of := telling{t, map[Sex]bool{}, map[Race]bool{}, map[Answer]bool{}}
	if !of.safe() {
		return told
	}
	for _, c := range t.categories() {
		if c.ok() && of.add(c) {
			told.Told = append(told.Told, c)
		}
	}
	return told
}

// unsaid says whether a category is of who did not say what they are.
func (c Told) unsaid() bool { return c.Sex == UnknownSex || c.Race == UnknownRace }

// categories are all with people in them, in the order in which they are tried: those of who did not
// say what they are last.
func (t table) categories() (all []Told) {
	sexes, races, cells := map[Sex]Count{}, map[Race]Count{}, []Told{}
	for a, n := range t {
		sexes[a.Sex], races[a.Race] = sexes[a.Sex].plus(n), races[a.Race].plus(n)
		cells = append(cells, Told{a.Sex, a.Race, n})
	}
	var bySex, byRace []Told
	for s, n := range sexes {
		bySex = append(bySex, Told{Sex: s, Count: n})
	}
	for r, n := range races {
		byRace = append(byRace, Told{Race: r, Count: n})
	}
	for _, list := range [][]Told{bySex, byRace, cells} {
		slices.SortFunc(list, func(a, b Told) int {
			if a.unsaid() != b.unsaid() {
				return map[bool]int{true: 1, false: -1}[a.unsaid()]
			}
			return cmp.Or(cmp.Compare(b.Applicants, a.Applicants), cmp.Compare(a.Sex, b.Sex), cmp.Compare(a.Race, b.Race))
		})
		all = append(all, list...)
	}
	return all
}

// add has a category told, unless that is not safe.
func (o *telling) add(c Told) bool {
	mark := func(on bool) {
		switch {
		case c.Race == "":
			o.sexes[c.Sex] = on
		case c.Sex == "":
			o.races[c.Race] = on
		default:
			o.cells[Answer{c.Sex, c.Race}] = on
		}
	}
	mark(true)
	if o.safe() {
		return true
	}
	mark(false)
	return false
}

// safe says whether no sum or difference of what is told, and of how many there were in all, is
// about a group of people that is too small, or of people who are known to have said the same.
//
// What is told are sums of rows and columns of the table, those of which nothing is told together
// being one more row or column by subtraction from the whole. A group can be worked out where
// numbers of its rows (u) and columns (v) add up to 1 in every cell of the group and to 0 in every
// other; cells that are told are taken off. Sums of groups that are large enough are large enough,
// so that it is enough to look at the cells that are not told. With three rows no numbers beyond
// -1 to 1, and for columns -2 to 2, are needed, since the sums matter alone.
func (o *telling) safe() bool {
	g := o.blocks()
	u := make([]int, g.rows)
	for n := range power(3, g.rows) {
		for i := range u {
			u[i] = n%3 - 1
			n /= 3
		}
		if !safeFor(g.columns, u, Count{}) {
			return false
		}
	}
	return o.leavesOpen(g)
}

func power(base, exponent int) int {
	n := 1
	for range exponent {
		n *= base
	}
	return n
}

// grid is what is not told of each column, by its rows, and where in it sexes and races are.
type grid struct {
	rows    int
	row     map[Sex]int
	column  map[Race]int
	columns [][]Count
}

func (o *telling) blocks() grid {
	row, rows, rest := map[Sex]int{}, 0, -1
	place := func(told bool, next *int, rest *int) int {
		if !told && *rest >= 0 {
			return *rest
		}
		at := *next
		*next++
		if !told {
			*rest = at
		}
		return at
	}
	for _, s := range Sexes() {
		row[s] = place(o.sexes[s], &rows, &rest)
	}
	column, width := map[Race]int{}, 0
	rest = -1
	for _, r := range Races() {
		column[r] = place(o.races[r], &width, &rest)
	}
	columns := make([][]Count, width)
	for i := range columns {
		columns[i] = make([]Count, rows)
	}
	for a, n := range o.table {
		if !o.cells[a] {
			at := &columns[column[a.Race]][row[a.Sex]]
			*at = at.plus(n)
		}
	}
	return grid{rows, row, column, columns}
}

// safeFor says whether no choice of numbers for the columns, with those of the rows, makes a group
// that is too small; sum is what the columns before add to it.
func safeFor(columns [][]Count, u []int, sum Count) bool {
	if len(columns) == 0 {
		return sum.ok()
	}
	tried := map[Count]bool{}
	for v := -2; v <= 2; v++ {
		part, fits := Count{}, true
		for i, n := range columns[0] {
			if n == (Count{}) {
				continue
			}
			w := u[i] + v
			if fits = w == 0 || w == 1; !fits {
				break
			}
			if w == 1 {
				part = part.plus(n)
			}
		}
		if !fits || tried[part] {
			continue
		}
		tried[part] = true
		if !safeFor(columns[1:], u, sum.plus(part)) {
			return false
		}
	}
	return true
}
