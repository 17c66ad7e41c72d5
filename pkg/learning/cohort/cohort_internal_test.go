package cohort

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// enough requires that each number, and each difference of two, is of nobody or of six and more.
func enough(t require.TestingT, what string, told ...*int64) {
	for i, a := range told {
		if a == nil {
			continue
		}
		require.True(t, few.May(*a), "%s %d", what, *a)
		for _, b := range told[:i] {
			if b != nil {
				require.True(t, few.May(max(*a-*b, *b-*a)), "%s %d %d", what, *a, *b)
			}
		}
	}
}

func drawn(t *rapid.T, who id.Person, units []id.Unit) *learner {
	l := &learner{person: who, unit: rapid.SampledFrom(units).Draw(t, "unit")}
	l.began = rapid.Bool().Draw(t, "began")
	l.completed = l.began && rapid.Bool().Draw(t, "completed")
	if rapid.IntRange(0, 3).Draw(t, "scored") > 0 {
		l.began, l.completed = true, true
		p := float64(rapid.IntRange(0, 100).Draw(t, "percent"))
		l.scored = &scored{percent: p, completed: noon.AddDate(0, -rapid.IntRange(0, 5).Draw(t, "month"), 0)}
		if rapid.IntRange(0, 9).Draw(t, "fails") > 0 {
			l.scored.passed = new(p >= 65)
		}
		for _, key := range []string{"a", "b.clear", "c"} {
			if rapid.IntRange(0, 2).Draw(t, key) > 0 {
				l.scored.criteria = append(l.scored.criteria, share{key, key, p / 100})
			}
		}
	}
	if rapid.Bool().Draw(t, "practiced") {
		l.objectives = []mastery.Objective{{Key: "tie", Known: float64(rapid.IntRange(0, 10).Draw(t, "known")) / 10, Stability: 10, Evidence: 1, EvidenceAt: &noon}}
	}
	return l
}

// No figure of a group, and no difference of two, is of few.
func TestNoFigureTellsOfFew(t *testing.T) {
	units := []id.Unit{{}, id.NewUnit(), id.NewUnit(), id.NewUnit()}
	names := map[id.Unit]string{units[1]: "Red", units[2]: "Blue"} // the last was deleted
	rapid.Check(t, func(t *rapid.T) {
		var all []*learner
		for range rapid.IntRange(0, 40).Draw(t, "people") {
			all = append(all, drawn(t, id.NewPerson(), units))
		}
		f := count(all, names, noon)
		f.trim()
		told := []*int64{f.Asked, f.Began, f.Completed, f.Scored, f.Passed}
		enough(t, "totals", told...)
		var graded int64
		for _, l := range all {
			if l.scored != nil {
				graded++
			}
		}
		if f.Scored == nil || *f.Scored == 0 {
			require.Less(t, graded, int64(few.Least))
			require.Zero(t, len(f.Spread)+len(f.Periods)+len(f.Units)+len(f.Criteria))
			require.Nil(t, f.AveragePercent)
		} else {
			require.Equal(t, graded, *f.Scored)
			spread, periods, groups := int64(0), int64(0), int64(0)
			var passed int64
			for _, r := range f.Spread {
				require.GreaterOrEqual(t, r.People, int64(few.Least))
				require.Less(t, r.From, r.To)
				require.LessOrEqual(t, r.To, int64(100))
				if spread += r.People; r.Passed != nil && *r.Passed {
					passed += r.People
				}
			}
			if f.Passed != nil {
				require.Equal(t, *f.Passed, passed)
			}
			for i, p := range f.Periods {
				require.GreaterOrEqual(t, p.People, int64(few.Least))
				if i > 0 {
					require.Equal(t, f.Periods[i-1].To, p.From)
				}
				periods += p.People
			}
			for _, g := range f.Units {
				require.GreaterOrEqual(t, g.People, int64(few.Least))
				groups += g.People
			}
			require.Equal(t, []int64{graded, graded}, []int64{spread, periods})
			if len(f.Units) > 0 {
				require.Equal(t, graded, groups)
			}
			judged := map[string]int64{}
			for _, l := range all {
				if l.scored != nil {
					for _, c := range l.scored.criteria {
						judged[c.key]++
					}
				}
			}
			for _, c := range f.Criteria {
				require.GreaterOrEqual(t, judged[c.Key], int64(few.Least))
				enough(t, "criterion", c.People, f.Scored)
			}
			require.NotEqual(t, 1, len(judged)-len(f.Criteria), "what one criterion has alone follows from the others")
		}
		for _, o := range f.Objectives {
			enough(t, "objective", append([]*int64{o.People}, told...)...)
			enough(t, "secure", o.People, o.Secure)
		}
	})
}

// known is what a report tells of: people with their part in it.
type known map[id.Person]string

func (k known) apart(o known) int64 {
	people := map[id.Person]bool{}
	for _, pair := range [][2]known{{k, o}, {o, k}} {
		for who, with := range pair[0] {
			if pair[1][who] != with {
				people[who] = true
			}
		}
	}
	return int64(len(people))
}

// Nor does a report before and one after, nor one of a unit beside one of everybody, tell by its difference of few.
func TestNoTwoReportsTellOfFew(t *testing.T) {
	units := []id.Unit{id.NewUnit(), id.NewUnit()}
	names := map[id.Unit]string{units[0]: "Red", units[1]: "Blue"}
	about := id.NewSubject()
	fresh := 0
	rapid.Check(t, func(t *rapid.T) {
		var all []*learner
		f := family{of: about, salt: []byte("salt"), edition: 1}
		told := map[string]known{}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			for range rapid.IntRange(0, 7).Draw(t, "changes") {
				if i := rapid.IntRange(-8, len(all)-1).Draw(t, "which"); i < 0 {
					all = append(all, drawn(t, id.NewPerson(), units))
				} else if rapid.IntRange(0, 3).Draw(t, "goes") == 0 {
					all = slices.Delete(all, i, i+1)
				} else {
					all[i] = drawn(t, all[i].person, units)
				}
			}
			s := Selection{Subject: about, Unit: rapid.SampledFrom(append([]id.Unit{{}}, units...)).Draw(t, "of")}
			var in []*learner
			now := known{}
			for _, l := range all {
				if s.Unit.IsZero() || l.unit == s.Unit {
					in = append(in, l)
					if l.scored != nil {
						now[l.person] = fmt.Sprint(l.scored.percent)
					}
				}
			}
			c := Counted{Selection: s, family: f}
			at := noon.Add(time.Duration(len(told)) * time.Hour)
			require.NoError(t, c.tell(in, names, at))
			enough(t, "totals", c.Asked, c.Began, c.Completed, c.Scored, c.Passed)
			for _, r := range c.changes {
				if r.Part != "average" {
					continue
				}
				fresh++
				for key, before := range told {
					d := now.apart(before)
					require.True(t, few.May(d), "%s by %d", key, d)
				}
				told[s.key()] = maps.Clone(now)
			}
			f.rows = slices.DeleteFunc(f.rows, func(r row) bool {
				return slices.ContainsFunc(c.changes, func(n row) bool { return n.Selection == r.Selection && n.Part == r.Part })
			})
			f.rows = append(f.rows, c.changes...)
		}
	})
	require.Greater(t, fresh, 50, "there were reports to compare")
}
