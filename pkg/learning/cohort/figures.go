package cohort

import (
	"cmp"
	"math"
	"slices"
	"time"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
)

// Figures are what is told of a group. What is nil, or not in a list, would tell of few.
type Figures struct {
	// Asked is for how many people work is set, or who did it without; Began and Completed are of those.
	Asked     *int64 `json:"asked"`
	Began     *int64 `json:"began"`
	Completed *int64 `json:"completed"`
	// Scored have a released assessment: of each person the last counts, here and below.
	Scored *int64 `json:"scored"`
	// Passed is of those; nil too where not everybody can fail.
	Passed         *int64      `json:"passed"`
	AveragePercent *float64    `json:"averagePercent"`
	Spread         []Range     `json:"spread"`
	Periods        []Period    `json:"periods"`
	Units          []Group     `json:"units"`
	Criteria       []Criterion `json:"criteria"`
	Objectives     []Objective `json:"objectives"`
	// CountedAt is since when all of it is true: what would tell of few by its change stays as it was counted.
	CountedAt time.Time `json:"countedAt"`
}

// Range is how many people have from so many percent up to less than so many, or all.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Passed is nil where that is not told apart.
	Passed *bool `json:"passed"`
	People int64 `json:"people"`
}

// Period is what was completed from the first day of a month up to that of another.
type Period struct {
	From           string  `json:"from"`
	To             string  `json:"to"`
	People         int64   `json:"people"`
	AveragePercent float64 `json:"averagePercent"`
}

// Group is a unit's people, in it itself; of no id and an empty name, those of units of few, and in none.
type Group struct {
	Unit           *id.Unit `json:"unitId"`
	Name           string   `json:"name"`
	People         int64    `json:"people"`
	AveragePercent float64  `json:"averagePercent"`
}

// Criterion is how much of its points people had.
type Criterion struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	// People is nil where it differs from those who were scored by few.
	People         *int64  `json:"people"`
	AveragePercent float64 `json:"averagePercent"`
	// Hard says that it is among those of which people had the least points.
	Hard bool `json:"hard"`
}

// Objective is how well people master an objective of whom something is known.
type Objective struct {
	Key  string `json:"key"`
	Text string `json:"text"`
	// People have shown something of it, and to how many of them it is secure, or strong.
	People         *int64        `json:"people"`
	Secure         *int64        `json:"secure"`
	AverageMastery float64       `json:"averageMastery"`
	Level          mastery.Level `json:"level"`
}

// Bounds of what is told.
const (
	// step is how many percent a range of scores is wide at least.
	step = 20
	// mostHard is how many criteria are called hard, of half of them at most.
	mostHard = 3
	// mostUnits is how many units are told one by one, and mostCriteria of how many criteria.
	mostUnits    = 100
	mostCriteria = 200
)

// The blocks that people are in, one each, in order: how far they got, and then what they scored,
// first of those who did not pass.
const (
	idle = iota
	begun
	done
	scoredFrom
)

const (
	passedFrom = scoredFrom + 100/step
	blocks     = passedFrom + 100/step
)

func block(l *learner, sides bool) int {
	switch {
	case l.scored != nil:
		at := scoredFrom + min(int(l.scored.percent)/step, 100/step-1)
		if sides && *l.scored.passed {
			at += passedFrom - scoredFrom
		}
		return at
	case l.completed:
		return done
	case l.began:
		return begun
	}
	return idle
}

// count counts a group. What is told of scores comes before how many are asked.
func count(all []*learner, names map[id.Unit]string, now time.Time) (f Figures) {
	var graded []*learner
	sides := true
	for _, l := range all {
		if l.scored != nil {
			graded = append(graded, l)
			sides = sides && l.scored.passed != nil
		}
	}
	sizes, told := split(all, sides)
	if sides && !slices.Contains(told, passedFrom) {
		sides = false
		sizes, told = split(all, sides)
	}
	total := func(at int) *int64 {
		if !slices.Contains(told, at) {
			return nil
		}
		var n int64
		for _, one := range sizes[at:] {
			n += one
		}
		return &n
	}
	f.Asked, f.Began, f.Completed = total(idle), total(begun), total(done)
	f.CountedAt = now
	f.Spread, f.Periods, f.Units, f.Criteria, f.Objectives = []Range{}, []Period{}, []Group{}, []Criterion{}, []Objective{}
	f.Scored = total(scoredFrom)
	if f.Scored != nil && *f.Scored > 0 {
		if sides {
			f.Passed = total(passedFrom)
		}
		f.AveragePercent = new(average(graded))
		f.Spread = spread(sizes, told, sides)
		f.Periods, f.Units, f.Criteria = periods(graded), units(graded, names), criteria(graded)
	}
	f.Objectives = objectives(all, now)
	return f
}

// split is how many people are in each block, and which totals are told.
func split(all []*learner, sides bool) (sizes []int64, told []int) {
	sizes = make([]int64, blocks)
	for _, l := range all {
		sizes[block(l, sides)]++
	}
	wanted := []int{scoredFrom}
	if sides {
		wanted = append(wanted, passedFrom)
	}
	wanted = append(wanted, idle, begun, done)
	for at := scoredFrom + 1; at < blocks; at++ {
		if at != passedFrom {
			wanted = append(wanted, at)
		}
	}
	return sizes, few.Totals(sizes, wanted)
}

// spread are the ranges between the totals that are told, of those with somebody.
func spread(sizes []int64, told []int, sides bool) []Range {
	all := []Range{}
	for i, at := range told {
		next := blocks
		if i+1 < len(told) {
			next = told[i+1]
		}
		if at < scoredFrom {
			continue
		}
		var n int64
		first, last := -1, at
		for k := at; k < next; k++ {
			n += sizes[k]
			if first < 0 {
				first = k
			}
			last = k
		}
		if n == 0 {
			continue
		}
		r := Range{From: percentOf(first), To: percentOf(last) + step, People: n}
		if sides {
			r.Passed = new(at >= passedFrom)
		} else {
			r.To = min(r.To, 100)
			if last >= passedFrom {
				r.To = 100 // nobody is on that side
			}
		}
		all = append(all, r)
	}
	return all
}

// percentOf is where a block begins.
func percentOf(at int) int64 { return int64((at-scoredFrom)%(100/step)) * step }

// average is a mean of percents, to a whole one.
func average(all []*learner) float64 {
	var sum float64
	for _, l := range all {
		sum += l.scored.percent
	}
	return math.Round(sum / float64(len(all)))
}

// periods are months, as many together as there must be.
func periods(graded []*learner) []Period {
	month := func(at time.Time) int { return at.Year()*12 + int(at.Month()) - 1 }
	first, last := math.MaxInt, 0
	for _, l := range graded {
		first, last = min(first, month(l.scored.completed)), max(last, month(l.scored.completed))
	}
	sizes := make([]int64, last-first+1)
	for _, l := range graded {
		sizes[month(l.scored.completed)-first]++
	}
	all := []Period{}
	day := func(m int) string {
		return time.Date(m/12, time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	begins := few.Merge(sizes)
	for i, at := range begins {
		to := len(sizes)
		if i+1 < len(begins) {
			to = begins[i+1]
		}
		var in []*learner
		for _, l := range graded {
			if m := month(l.scored.completed) - first; m >= at && m < to {
				in = append(in, l)
			}
		}
		all = append(all, Period{day(first + at), day(first + to), int64(len(in)), average(in)})
	}
	return all
}

// units are the units with enough people, by name, and the rest together. Of one group alone nothing is told.
func units(graded []*learner, names map[id.Unit]string) []Group {
	by := map[id.Unit][]*learner{}
	for _, l := range graded {
		of := l.unit
		if _, there := names[of]; !there {
			of = id.Unit{}
		}
		by[of] = append(by[of], l)
	}
	keys := make([]id.Unit, 0, len(by))
	for of := range by {
		keys = append(keys, of)
	}
	slices.SortFunc(keys, func(a, b id.Unit) int {
		return cmp.Or(cmp.Compare(names[a], names[b]), slices.Compare(a[:], b[:]))
	})
	var sizes []int64
	for _, of := range keys {
		sizes = append(sizes, int64(len(by[of])))
	}
	all, rest := []Group{}, []*learner{}
	for i, told := range few.Groups(sizes) {
		in := by[keys[i]]
		if !told || keys[i].IsZero() || len(all) == mostUnits {
			rest = append(rest, in...)
			continue
		}
		all = append(all, Group{&keys[i], names[keys[i]], int64(len(in)), average(in)})
	}
	if len(all) == 0 {
		return all
	}
	if len(rest) > 0 {
		all = append(all, Group{People: int64(len(rest)), AveragePercent: average(rest)})
	}
	return all
}

// criteria are those that enough people were judged by, in the order of their keys. Where one alone is
// left out, the least of the others is too: what everybody scored in all would tell of it.
func criteria(graded []*learner) []Criterion {
	type tally struct {
		label string
		sum   float64
		n     int64
	}
	by := map[string]*tally{}
	for _, l := range graded {
		for _, c := range l.scored.criteria {
			if by[c.key] == nil {
				by[c.key] = &tally{}
			}
			t := by[c.key]
			t.label, t.sum, t.n = c.label, t.sum+c.of, t.n+1
		}
	}
	keys := make([]string, 0, len(by))
	hidden := 0
	for key, t := range by {
		keys = append(keys, key)
		if !few.May(t.n) {
			hidden++
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(by[a].n, by[b].n), cmp.Compare(a, b)) })
	if hidden == 1 {
		hidden = 2
	}
	all := []Criterion{}
	for _, key := range keys[min(hidden, len(keys)):] {
		t := by[key]
		all = append(all, Criterion{Key: key, Label: t.label, People: &t.n, AveragePercent: math.Round(100 * t.sum / float64(t.n))})
	}
	slices.SortFunc(all, func(a, b Criterion) int { return cmp.Compare(a.Key, b.Key) })
	return all[:min(len(all), mostCriteria)]
}

// objectives are those of which enough people have shown something, in the order of their keys.
func objectives(all []*learner, now time.Time) []Objective {
	type tally struct {
		sum       float64
		n, secure int64
	}
	by := map[string]*tally{}
	for _, l := range all {
		for _, o := range l.objectives {
			if by[o.Key] == nil {
				by[o.Key] = &tally{}
			}
			t, m := by[o.Key], o.At(now)
			t.sum, t.n = t.sum+m, t.n+1
			if level := mastery.LevelOf(m); level == mastery.Secure || level == mastery.Strong {
				t.secure++
			}
		}
	}
	found := []Objective{}
	for key, t := range by {
		if t.n < few.Least {
			continue
		}
		m := math.Round(100*t.sum/float64(t.n)) / 100
		found = append(found, Objective{Key: key, AverageMastery: m, Level: mastery.LevelOf(m), People: &t.n, Secure: &t.secure})
	}
	slices.SortFunc(found, func(a, b Objective) int { return cmp.Compare(a.Key, b.Key) })
	return found
}

// Told says whether anything is told.
func (f *Figures) Told() bool {
	some := func(n *int64) bool { return n != nil && *n > 0 }
	return slices.ContainsFunc([]*int64{f.Asked, f.Began, f.Completed, f.Scored}, some) || f.AveragePercent != nil ||
		len(f.Spread)+len(f.Periods)+len(f.Units)+len(f.Criteria)+len(f.Objectives) > 0
}

// trim leaves out what differs by few from something else that is told, which can have been counted at another time. What
// comes first is left.
func (f *Figures) trim() {
	var told []*int64
	fits := func(n *int64, beside ...*int64) bool {
		return n != nil && few.Apart(*n, append(beside, told...)...)
	}
	leave := func(n **int64) {
		if fits(*n) {
			told = append(told, *n)
		} else {
			*n = nil
		}
	}
	leave(&f.Scored)
	leave(&f.Passed)
	f.Spread = whole(f.Spread, func(r Range) int64 { return r.People }, fits)
	f.Periods = whole(f.Periods, func(p Period) int64 { return p.People }, fits)
	f.Units = whole(f.Units, func(g Group) int64 { return g.People }, fits)
	for _, n := range []**int64{&f.Asked, &f.Began, &f.Completed} {
		leave(n)
	}
	for i := range f.Criteria {
		if c := &f.Criteria[i]; !fits(c.People) {
			c.People = nil
		}
	}
	for i := range f.Objectives {
		if o := &f.Objectives[i]; !fits(o.People) {
			o.People, o.Secure = nil, nil
		} else if o.Secure != nil && !few.Apart(*o.Secure, o.People) {
			o.Secure = nil
		}
	}
}

// whole are the rows of a table whose sum may be told; none where it may not.
func whole[T any](rows []T, people func(T) int64, fits func(*int64, ...*int64) bool) []T {
	var sum int64
	for _, r := range rows {
		sum += people(r)
	}
	if !fits(&sum) {
		return []T{}
	}
	return rows
}

// mark notes which criteria were the hardest.
func (f *Figures) mark() {
	order := make([]*Criterion, len(f.Criteria))
	for i := range f.Criteria {
		order[i] = &f.Criteria[i]
	}
	slices.SortStableFunc(order, func(a, b *Criterion) int { return cmp.Compare(a.AveragePercent, b.AveragePercent) })
	for i, c := range order {
		c.Hard = i < min(mostHard, len(order)/2)
	}
}
