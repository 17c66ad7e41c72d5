package cohort

import (
	"cmp"
	"math"
	"slices"
	"time"

	"visavis.dev/pkg/learning/mastery"
)

// Figures are what is told of a group. What is nil, or not in a list, is withheld: it would tell of few people, by itself or
// beside what was told before.
type Figures struct {
	Results *Results `json:"results"`
	// Objectives are in the order of their keys.
	Objectives []Objective `json:"objectives"`
}

// Results are of those who have a released assessment of the subject: of each person the one that was completed last.
type Results struct {
	People         int64   `json:"people"`
	AveragePercent float64 `json:"averagePercent"`
	// Passed and NotPassed are nil where one of them would tell of few, or not everybody can fail.
	Passed    *int64 `json:"passed"`
	NotPassed *int64 `json:"notPassed"`
	// Bands are neighbors put together where there are few in one, from the lowest; none where only all would be left.
	Bands []Band `json:"bands"`
	// CountedAt is since when it is told so. What changed since is not in it.
	CountedAt time.Time `json:"countedAt"`
}

// Band is how many have a result from one band to another.
type Band struct {
	From   string `json:"from"`
	To     string `json:"to"`
	People int64  `json:"people"`
}

// Objective is how well those who have a result mastered an objective with it.
type Objective struct {
	Key            string        `json:"key"`
	Text           string        `json:"text"`
	People         int64         `json:"people"`
	AverageMastery float64       `json:"averageMastery"`
	Level          mastery.Level `json:"level"`
	// Secure is to how many of them it is secure, or strong; nil where that, or its rest, would be of few.
	Secure    *int64    `json:"secure"`
	CountedAt time.Time `json:"countedAt"`
}

// Told says whether anything is told.
func (f *Figures) Told() bool { return f.Results != nil || len(f.Objectives) > 0 }

// bands are those of results, from the lowest (package result).
var bands = []string{"fail", "pass", "merit", "distinction"}

// ofMastery begins the names of the parts of objectives.
const ofMastery = "mastery "

// mostObjectives is of how many objectives is told.
const mostObjectives = 30

// entry is a person in a part of the figures: what they have, and in which block of it they are.
type entry struct {
	of    *learner
	value float64
	block int
}

// part is a figure with all that is told along with it: of how many people it is, what their values sum up to, and, where
// that is possible, how many of them are in which of its blocks.
type part struct {
	name   string
	blocks int
	people []entry
}

// results is the part of what people scored.
func results(all []*learner) part {
	p := part{name: "percent", blocks: len(bands)}
	for _, l := range all {
		at := slices.Index(bands, l.band)
		if at < 0 {
			at, p.blocks = 0, 1
		}
		p.people = append(p.people, entry{l, l.percent, at})
	}
	return p
}

// objectives are the parts of what they master. Those are in a block who do not, or who do.
func objectives(all []*learner) (parts []part) {
	by := map[string]*part{}
	for _, l := range all {
		for _, o := range l.objectives {
			if by[o.Key] == nil {
				by[o.Key] = &part{name: ofMastery + o.Key, blocks: 2}
			}
			e := entry{l, o.Mastery, 0}
			if level := mastery.LevelOf(o.Mastery); level == mastery.Secure || level == mastery.Strong {
				e.block = 1
			}
			by[o.Key].people = append(by[o.Key].people, e)
		}
	}
	for _, p := range by {
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return parts[:min(len(parts), mostObjectives)]
}

// layouts are the ways in which neighbors of so many blocks can be put together, those that tell the most first: each says
// with which blocks the groups begin, but for the first. Between as many, whether people passed comes first.
func layouts(blocks int) (all [][]int) {
	for mask := range 1 << (blocks - 1) {
		begins := []int{}
		for i := 1; i < blocks; i++ {
			if mask&(1<<(i-1)) != 0 {
				begins = append(begins, i)
			}
		}
		all = append(all, begins)
	}
	slices.SortStableFunc(all, func(a, b []int) int { return cmp.Or(cmp.Compare(len(b), len(a)), slices.Compare(a, b)) })
	return all
}

// group is with which group of a layout a block is told.
func group(begins []int, block int) int {
	at, found := slices.BinarySearch(begins, block)
	if found {
		return at + 1
	}
	return at
}

// asResults is what a part that results made says once it is told; nil for nothing.
func (k *kept) asResults() *Results {
	if k == nil {
		return nil
	}
	r := &Results{People: k.people(), AveragePercent: math.Round(k.Sum / float64(k.people())), Bands: []Band{}, CountedAt: k.CountedAt.UTC()}
	if len(k.Begins) == 0 {
		return r
	}
	var passed int64
	for i, of := range k.Groups {
		from, to := 0, len(bands)-1
		if i > 0 {
			from = k.Begins[i-1]
		}
		if i < len(k.Begins) {
			to = k.Begins[i] - 1
		}
		r.Bands = append(r.Bands, Band{bands[from], bands[to], of.len()})
		if from > 0 {
			passed += of.len()
		}
	}
	if slices.Contains(k.Begins, 1) {
		r.Passed, r.NotPassed = &passed, new(r.People-passed)
	}
	return r
}

// asObjective is what a part that objectives made says once it is told.
func (k *kept) asObjective(key string) Objective {
	mean := k.Sum / float64(k.people())
	o := Objective{
		Key: key, Text: key, People: k.people(), AverageMastery: math.Round(100*mean) / 100, Level: mastery.LevelOf(mean), CountedAt: k.CountedAt.UTC(),
	}
	if len(k.Groups) == 2 {
		o.Secure = new(k.Groups[1].len())
	}
	return o
}
