package demographics

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Filter says which cohorts are meant: those of a role, of a portal, or all of the organization,
// that were counted from a time on and before another.
type Filter struct {
	Role     id.Role
	Portal   id.Portal
	From, To time.Time
	// LeaveOut leaves categories with less than 2 % of those who said what they are out of the
	// ratios, as New York City allows.
	LeaveOut bool
}

// Audit is how rarely or often people of each category were selected (the impact ratios that New
// York City's Local Law 144 wants, 6 RCNY § 5-301). All of it are sums of cohorts.
type Audit struct {
	// Count is of all, whatever can be told of them.
	Count
	// Cohorts is how many there are.
	Cohorts int64
	Sexes   Family
	Races   Family
	Both    Family
}

// Family is an audit by sex, by race, or by both.
type Family struct {
	Lines []Line
	// Unknown are those who did not say what they are, and Untold those of whom it is not told, so
	// that nothing is told of few.
	Unknown Count
	Untold  int64
}

// Line is a category; Sex or Race is empty for any.
type Line struct {
	Sex  Sex
	Race Race
	Count
	// Rate is the part that was selected, from 0 to 1; nil where there is nobody. Ratio is that to the
	// highest rate of the categories that are compared: those that are told of the same cohorts, or there are
	// fewer than two. It is nil of others, of what is left out, and where nobody was selected. Neither is rounded.
	Rate, Ratio *float64
	// Flagged says that the rate is less than four fifths of the highest, and LeftOut that the
	// category is too small a part for a ratio.
	Flagged, LeftOut bool
}

// Read adds up the cohorts. It rides bias_cohort_by_role, bias_cohort_by_portal or bias_cohort_by_time.
func Read(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter) (Audit, error) {
	sql, args := selectCohorts, []any{org, f.From, f.To}
	switch {
	case !f.Role.IsZero():
		sql, args = sql+` AND role_id = $4`, append(args, f.Role)
	case !f.Portal.IsZero():
		sql, args = sql+` AND portal_id = $4`, append(args, f.Portal)
	}
	var s sums
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		s = newSums()
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var c Counts
				if err := rows.Scan(&c); err != nil {
					return err
				}
				s.add(c)
			}
			return rows.Err()
		}, sql, args...)
	})
	return s.audit(f.LeaveOut), err
}

const selectCohorts = `SELECT counts FROM bias_cohort WHERE org_id = $1 AND at >= $2 AND at < $3`

// sums are cohorts together.
type sums struct {
	all     Count
	cohorts int64
	// told are by category; a sex or race is empty for any. in are the cohorts of which each is told.
	told map[Answer]Count
	in   map[Answer][]int64
}

func newSums() sums { return sums{told: map[Answer]Count{}, in: map[Answer][]int64{}} }

func (s *sums) add(c Counts) {
	s.all, s.cohorts = s.all.plus(c.Count), s.cohorts+1
	for _, one := range c.Told {
		a := Answer{one.Sex, one.Race}
		s.told[a], s.in[a] = s.told[a].plus(one.Count), append(s.in[a], s.cohorts)
	}
}

func (s *sums) audit(leaveOut bool) Audit {
	a := Audit{Count: s.all, Cohorts: s.cohorts}
	var bySex, byRace, both []Answer
	for _, sex := range Sexes() {
		bySex = append(bySex, Answer{Sex: sex})
		for _, race := range Races() {
			both = append(both, Answer{sex, race})
		}
	}
	for _, race := range Races() {
		byRace = append(byRace, Answer{Race: race})
	}
	a.Sexes, a.Races, a.Both = s.family(bySex, leaveOut), s.family(byRace, leaveOut), s.family(both, leaveOut)
	return a
}

// family makes the lines of some categories that have somebody in them.
func (s *sums) family(of []Answer, leaveOut bool) (f Family) {
	f.Lines, f.Untold = []Line{}, s.all.Applicants
	for _, c := range of {
		n, ok := s.told[c]
		if !ok {
			continue
		}
		f.Untold -= n.Applicants
		if c.Sex == UnknownSex || c.Race == UnknownRace {
			f.Unknown = f.Unknown.plus(n)
			continue
		}
		f.Lines = append(f.Lines, Line{Sex: c.Sex, Race: c.Race, Count: n})
	}
	rate(f.Lines, s.compared(f.Lines), leaveOut)
	return f
}

// compared says which lines are compared: those that are told of the same cohorts as others, of the
// most candidates. What is told of some cohorts alone has other candidates to be compared with.
func (s *sums) compared(lines []Line) (in []bool) {
	in = make([]bool, len(lines))
	var most int64
	for i := range lines {
		of, n, same := s.in[Answer{lines[i].Sex, lines[i].Race}], int64(0), make([]bool, len(lines))
		others := 0
		for j, l := range lines {
			if same[j] = slices.Equal(of, s.in[Answer{l.Sex, l.Race}]); same[j] {
				n, others = n+l.Applicants, others+1
			}
		}
		if others > 1 && n > most {
			in, most = same, n
		}
	}
	return in
}

// leastPercent is how many in a hundred a category has that is not left out.
const leastPercent = 2

// rate works the ratios out, of those that are compared. What is left out is too small a part of all
// lines.
func rate(lines []Line, compared []bool, leaveOut bool) {
	var all, most Count
	for _, l := range lines {
		all = all.plus(l.Count)
	}
	for i := range lines {
		l := &lines[i]
		l.LeftOut = leaveOut && l.Applicants*100 < all.Applicants*leastPercent
		if compared[i] && !l.LeftOut && (most.Applicants == 0 || l.Selected*most.Applicants > most.Selected*l.Applicants) {
			most = l.Count
		}
	}
	for i := range lines {
		l := &lines[i]
		l.Rate = part(l.Selected, l.Applicants)
		if !compared[i] || l.LeftOut || most.Selected == 0 {
			continue
		}
		l.Ratio = part(l.Selected*most.Applicants, l.Applicants*most.Selected)
		l.Flagged = 5*l.Selected*most.Applicants < 4*l.Applicants*most.Selected
	}
}

// part is a part of a whole; nil of nothing.
func part(some, of int64) *float64 {
	if of == 0 {
		return nil
	}
	return new(float64(some) / float64(of))
}

// Lines are those of all families.
func (a Audit) Lines() []Line { return slices.Concat(a.Sexes.Lines, a.Races.Lines, a.Both.Lines) }

// Year is when a year begins and ends, in UTC.
func Year(n int64) (from, to time.Time) {
	from = time.Date(int(n), time.January, 1, 0, 0, 0, 0, time.UTC)
	return from, from.AddDate(1, 0, 0)
}
