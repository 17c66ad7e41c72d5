package cohort

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/few/fewtest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
)

// school is a subject with those who have a result of it, and what reports were told of them.
type school struct {
	ids    []id.Person
	people map[int]*learner
	group  map[int]int
	ledger ledger
	kept   map[int]map[string]*kept
	// values are what everybody ever had, by its digest, and told all sums ever told, as the judge takes them.
	values map[few.Record]float64
	told   [][]few.Record
	now    time.Time
	// forget, if any, leaves out a part of the rule.
	forget func(l *ledger)
}

const (
	everywhere = 45
	// whole is the report of all, others are of groups.
	whole = 0
)

func newSchool() *school {
	s := &school{
		people: map[int]*learner{}, group: map[int]int{}, kept: map[int]map[string]*kept{}, values: map[few.Record]float64{},
		now:    time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC),
		ledger: ledger{salt: []byte("salt"), classes: map[string]*few.Classes{}, changed: map[string]bool{}},
	}
	for i := range byte(everywhere) {
		s.ids = append(s.ids, id.Person{15: i + 1})
	}
	return s
}

// scores has somebody have a result, or another.
func (s *school) scores(who int, percent float64) {
	band := "fail"
	for i, from := range []float64{50, 75, 90} {
		if percent >= from {
			band = bands[i+1]
		}
	}
	s.people[who] = &learner{
		person: s.ids[who], percent: percent, band: band,
		objectives: []mastery.Shift{{Key: "tie", Mastery: percent / 100}},
	}
	if who%3 > 0 {
		s.people[who].objectives = append(s.people[who].objectives, mastery.Shift{Key: "splice", Mastery: math.Round(percent/20) / 5})
	}
}

// report asks for one, and has what it tells judged.
func (s *school) report(group int) Figures {
	var all []*learner
	for who := range everywhere {
		if l := s.people[who]; l != nil && (group == whole || s.group[who] == group) {
			all = append(all, l)
		}
	}
	if s.kept[group] == nil {
		s.kept[group] = map[string]*kept{}
	}
	if s.forget != nil {
		s.forget(&s.ledger)
	}
	s.ledger.kept, s.ledger.told = s.kept[group], map[string]bool{}
	s.now = s.now.Add(time.Hour)
	for _, p := range append(objectives(all), results(all)) {
		for _, e := range p.people {
			s.values[s.ledger.record(p.name, e)] = e.value
		}
	}
	return s.ledger.figures(all, s.now)
}

// judged is of how many people something is that can be worked out of all that was told, where that is fewer than most; and
// why what is told is not true, empty where it is.
func (s *school) judged(f Figures, most int) (fewest int, wrong string) {
	for name := range s.ledger.told {
		k := s.ledger.kept[name]
		var sum float64
		for _, r := range k.all() {
			v, known := s.values[r]
			if !known {
				return 0, "somebody who never was"
			}
			sum += v
		}
		if math.Abs(sum-k.Sum) > 1e-6 {
			return 0, name + " is " + strconv.FormatFloat(k.Sum, 'f', 3, 64) + ", not " + strconv.FormatFloat(sum, 'f', 3, 64)
		}
		// The number of people, by groups, and the sum of what they have.
		s.told = append(s.told, whom(k.all()), k.all(), k.Versions)
		for _, g := range k.Groups {
			s.told = append(s.told, whom(g))
		}
	}
	if r := f.Results; r != nil {
		k := s.ledger.kept["percent"]
		if r.People != k.people() || r.AveragePercent != math.Round(k.Sum/float64(k.people())) {
			return 0, "results are not what is kept"
		}
		for _, n := range []*int64{&r.People, r.Passed, r.NotPassed} {
			if n != nil && *n < few.Least {
				return 0, "a figure of few"
			}
		}
	}
	return fewtest.Fewest(s.told, most), ""
}

// lives draws what happens next, and answers the figures where that is a report.
func (s *school) lives(t *rapid.T) *Figures {
	some := func(most int) (who []int) {
		from := rapid.IntRange(0, everywhere-1).Draw(t, "from")
		for i := range rapid.IntRange(1, most).Draw(t, "people") {
			who = append(who, (from+i)%everywhere)
		}
		return who
	}
	switch rapid.SampledFrom([]string{"come", "come", "score", "score one", "go", "move", "report", "report", "report"}).Draw(t, "step") {
	case "come":
		for _, who := range some(14) {
			if s.people[who] == nil {
				s.group[who] = rapid.IntRange(1, 3).Draw(t, "group")
				s.scores(who, float64(rapid.IntRange(0, 20).Draw(t, "percent")*5))
			}
		}
	case "score": // anew, or a further attempt
		for _, who := range some(12) {
			if s.people[who] != nil {
				s.scores(who, float64(rapid.IntRange(0, 20).Draw(t, "percent")*5))
			}
		}
	case "score one":
		if who := some(1)[0]; s.people[who] != nil {
			s.scores(who, 100-s.people[who].percent)
		}
	case "go": // voided, or erased
		for _, who := range some(8) {
			delete(s.people, who)
		}
	case "move":
		to := rapid.IntRange(1, 3).Draw(t, "to")
		for _, who := range some(8) {
			s.group[who] = to
		}
	case "report":
		f := s.report(rapid.IntRange(whole, 3).Draw(t, "of"))
		return &f
	}
	return nil
}

// Whatever happens, and whichever reports are asked for, nothing of fewer than six people can be worked out of all that
// was told; and all that is told is true of those whom it is of.
func TestNothingOfFewCanBeWorkedOut(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		s := newSchool()
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			f := s.lives(t)
			if f == nil {
				continue
			}
			told += len(s.ledger.told)
			n, wrong := s.judged(*f, few.Least)
			if wrong != "" || n < few.Least {
				t.Fatalf("of %d: %s", n, wrong)
			}
		}
	})
	require.Greater(t, told, 100, "most is told")
}

// What is not told leaves the ledger as it was, also where some of its classes could have been told.
func TestWhatIsNotToldIsNotEntered(t *testing.T) {
	written := func(l *ledger) map[string][]byte {
		all := map[string][]byte{}
		for kind, c := range l.classes {
			if c.Len() > 0 {
				all[kind] = c.Bytes()
			}
		}
		return all
	}
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		s := newSchool()
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			s.lives(t)
			var all []*learner
			for who := range everywhere {
				if l := s.people[who]; l != nil {
					all = append(all, l)
				}
			}
			s.ledger.kept, s.ledger.told = map[string]*kept{}, map[string]bool{}
			for _, p := range append(objectives(all), results(all)) {
				c := s.ledger.counted(p)
				for _, begins := range layouts(p.blocks) {
					k := &kept{Begins: begins, Groups: laid(begins, c.blocks)}
					k.add(k.all(), c)
					before := written(&s.ledger)
					if !s.ledger.enter(p.name, k) {
						refused++
						require.Equal(t, before, written(&s.ledger))
					}
				}
			}
		}
	})
	require.Greater(t, refused, 100)
}

// Where a part of the rule is left out the judge finds what is of few.
func TestWeakerRulesTellOfFew(t *testing.T) {
	for name, forget := range map[string]func(l *ledger){
		"each report by itself": func(l *ledger) { l.classes = map[string]*few.Classes{} },
		"without people":        func(l *ledger) { delete(l.classes, everybody) },
	} {
		t.Run(name, func(t *testing.T) {
			const most = 3 // of one or two: they are found soon
			least := most
			for seed := range 200 {
				rapid.Custom(func(t *rapid.T) bool {
					s := newSchool()
					s.forget = forget
					for range 40 {
						if f := s.lives(t); f != nil {
							n, wrong := s.judged(*f, most)
							if wrong != "" {
								t.Fatal(wrong)
							}
							if least = min(least, n); least < most {
								return true
							}
						}
					}
					return true
				}).Example(seed)
				if least < most {
					return
				}
			}
			t.Fatal("nothing of few was told")
		})
	}
}

// Of those who have something new few have it in one part, or had in one that was told at another time: by values, and by
// versions, that is not told, and without them it would be.
func TestValuesAndVersions(t *testing.T) {
	has := func(s *school, who int, percent float64, tie ...float64) {
		s.people[who] = &learner{person: s.ids[who], percent: percent}
		for _, m := range tie {
			s.people[who].objectives = append(s.people[who].objectives, mastery.Shift{Key: "tie", Mastery: m})
		}
	}
	values := func(s *school) {
		for who := range 12 {
			has(s, who, 50, 0.5)
		}
		s.judged(s.report(whole), few.Least)
		for who := range 6 {
			has(s, who, 60, 0.5)
		}
		has(s, 0, 60, 0.9)
	}
	versions := func(s *school) {
		for who := range 10 {
			has(s, who, 50, 0.5)
		}
		has(s, 10, 50)
		has(s, 11, 50)
		s.judged(s.report(whole), few.Least)
		has(s, 10, 80, 0.8)
		has(s, 11, 80, 0.8)
	}
	for name, tt := range map[string]struct {
		happens func(s *school)
		without string
		fewest  int
	}{
		"values": {values, ofMastery + "tie", 1}, "versions": {versions, everything, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSchool()
			tt.happens(s)
			n, wrong := s.judged(s.report(whole), few.Least)
			require.Equal(t, []any{few.Least, ""}, []any{n, wrong})
			s = newSchool()
			s.forget = func(l *ledger) { delete(l.classes, tt.without) }
			tt.happens(s)
			n, wrong = s.judged(s.report(whole), few.Least)
			require.Equal(t, []any{tt.fewest, ""}, []any{n, wrong})
		})
	}
}

// Six are told of and five are not; five more change nothing, and a sixth tells of all.
func TestWhatIsTold(t *testing.T) {
	s := newSchool()
	come := func(from, to int, percent float64) {
		for who := from; who < to; who++ {
			s.scores(who, percent)
			s.group[who] = 1
		}
	}
	require.Equal(t, Figures{Objectives: []Objective{}}, s.report(whole), "nobody")
	come(0, 5, 80)
	require.Equal(t, Figures{Objectives: []Objective{}}, s.report(whole), "as of nobody")
	come(5, 6, 20)
	six := s.report(whole)
	require.Equal(t, &Results{People: 6, AveragePercent: 70, Bands: []Band{}, CountedAt: s.now}, six.Results, "one did not pass, which is not told")
	require.Len(t, six.Objectives, 1, "of splice four know something")
	come(6, 11, 20)
	require.Equal(t, six, s.report(whole))
	come(11, 12, 20)
	twelve := s.report(whole).Results
	require.Equal(t, &Results{People: 12, AveragePercent: 45, Bands: []Band{}, CountedAt: s.now}, twelve, "beside the six five would be left who passed")
	require.Equal(t, twelve, s.report(whole).Results)

	// The result of one is scored anew: it stays as it is told, also where others come.
	s.scores(0, 100)
	require.Equal(t, twelve, s.report(whole).Results)
	come(12, 18, 95)
	more := s.report(whole).Results
	require.Equal(t, &Results{People: 18, AveragePercent: 62, Bands: []Band{}, CountedAt: s.now}, more)
	// A group of all but three is not told beside them.
	for who := range 3 {
		s.group[who] = 2
	}
	require.Nil(t, s.report(1).Results)
	require.Nil(t, s.report(2).Results)
}

// What was told of as many as there can be is told again, and nothing of more.
func TestAsManyAsThereCanBe(t *testing.T) {
	s := newSchool()
	s.ids = nil
	var all []*learner
	for range mostRecords {
		all = append(all, &learner{person: id.NewPerson(), percent: 60})
	}
	tell := func(some []*learner) *kept {
		s.ledger.kept, s.ledger.told = map[string]*kept{}, map[string]bool{}
		return s.ledger.tell(results(some), s.now)
	}
	require.Equal(t, int64(mostRecords), tell(all).people())
	require.Equal(t, int64(6), tell(all[:6]).people())
	for range 6 {
		all = append(all, &learner{person: id.NewPerson(), percent: 60})
	}
	require.Nil(t, tell(all))
	require.Equal(t, mostRecords, s.ledger.classes[everybody].Len(), "of more nothing is entered")
}

func TestLayouts(t *testing.T) {
	require.Equal(t, [][]int{{1, 2, 3}, {1, 2}, {1, 3}, {2, 3}, {1}, {2}, {3}, {}}, layouts(4))
	require.Equal(t, [][]int{{}}, layouts(1))
	require.Equal(t, []int{0, 0, 1, 1, 2}, []int{group([]int{2, 4}, 0), group([]int{2, 4}, 1), group([]int{2, 4}, 2), group([]int{2, 4}, 3), group([]int{2, 4}, 4)})
	require.True(t, slices.IsSortedFunc(people{{Person: 1}, {Person: 2}}, byPerson))
}
