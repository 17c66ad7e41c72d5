package calendars

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// clock reads times on the wall of a zone.
type clock func(wall time.Time) time.Time

// zones are those of a text by their names, and the one of what names none.
type zones struct {
	usual *time.Location
	named map[string]clock
	text  *Component
}

// of is the clock of a TZID. Names are those of the IANA's, also after a path that some programs put
// before; of others the text says when their clocks change. What is known nowhere is in the usual zone.
func (z *zones) of(name string) clock {
	if c, known := z.named[name]; known {
		return c
	}
	c := zoneClock(z.usual)
	if len(z.named) == mostNames {
		return c
	}
	if zone := iana(name); zone != nil {
		c = zoneClock(zone)
	} else if rules := z.rules(name); rules != nil {
		c = rules
	}
	z.named[name] = c
	return c
}

// iana finds a zone by the end of its name.
func iana(name string) *time.Location {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	for from := max(len(parts)-3, 0); from < len(parts); from++ {
		tail := strings.Join(parts[from:], "/")
		if tail == "" || tail == "Local" || len(tail) > 64 {
			continue
		}
		if zone, err := time.LoadLocation(tail); err == nil {
			return zone
		}
	}
	return nil
}

// zoneClock reads times as RFC 5545, 3.3.5 says: the first of two, and one that is skipped by the offset
// before the jump.
func zoneClock(zone *time.Location) clock {
	return func(wall time.Time) time.Time {
		// A day before any change near by, and a day after, are the two offsets that it can have.
		_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
		_, after := wall.Add(24 * time.Hour).In(zone).Zone()
		early := wall.Add(-time.Duration(before) * time.Second)
		late := wall.Add(-time.Duration(after) * time.Second)
		if _, got := early.In(zone).Zone(); got == before || before == after {
			return early
		}
		if _, got := late.In(zone).Zone(); got == after {
			return late
		}
		return early
	}
}

// onset is when the clocks of a zone change, as its own text says.
type onset struct {
	at       time.Time // on the wall before
	from, to time.Duration
}

// The bounds of a zone that its own text describes. What is beyond them is left out.
const (
	mostParts  = 20
	mostOnsets = 2000
	// mostNames bounds the zones of a text that are told apart.
	mostNames = 200
	// The years in which clocks change by a rule.
	firstYear, lastYear = 1970, 2100
)

// rules reads when clocks change from a VTIMEZONE; nil for none.
func (z *zones) rules(name string) clock {
	if z.text == nil {
		return nil
	}
	for _, zone := range z.text.Children {
		if zone.Name != "VTIMEZONE" || zone.Text("TZID") != name {
			continue
		}
		if known := iana(zone.Text("X-LIC-LOCATION")); known != nil && zone.Text("X-LIC-LOCATION") != "" {
			return zoneClock(known)
		}
		var all []onset
		for _, part := range zone.Children[:min(len(zone.Children), mostParts)] {
			all = onsets(all, part)
		}
		if len(all) == 0 {
			return nil
		}
		slices.SortStableFunc(all, func(a, b onset) int { return a.holds().Compare(b.holds()) })
		return func(wall time.Time) time.Time { return wall.Add(-offsetAt(all, wall)) }
	}
	return nil
}

// holds is from when on a change holds, on the wall: the first of two times that are there twice is before it, and one that
// is skipped too.
func (o onset) holds() time.Time { return o.at.Add(max(o.to-o.from, 0)) }

// offsetAt is the offset by the last change before a time on the wall. The changes are in order.
func offsetAt(all []onset, wall time.Time) time.Duration {
	n := sort.Search(len(all), func(i int) bool { return all[i].holds().After(wall) })
	if n == 0 {
		return all[0].from
	}
	return all[n-1].to
}

// onsets adds the changes of a STANDARD or DAYLIGHT, until far ahead.
func onsets(all []onset, part *Component) []onset {
	from, okFrom := offset(part.Text("TZOFFSETFROM"))
	to, okTo := offset(part.Text("TZOFFSETTO"))
	start, err := time.Parse(wallForm, part.Text("DTSTART"))
	if err != nil || !okFrom || !okTo {
		return all
	}
	add := func(at time.Time) bool {
		if len(all) == mostOnsets {
			return false
		}
		all = append(all, onset{at, from, to})
		return true
	}
	add(start)
	for _, l := range part.Lines {
		if l.Name != "RDATE" {
			continue
		}
		for text := range strings.SplitSeq(l.Value, ",") {
			if at, err := time.Parse(wallForm, strings.TrimSpace(text)); err == nil && !add(at) {
				return all
			}
		}
	}
	for _, at := range byRule(part.Text("RRULE"), start, from) {
		if !add(at) {
			break
		}
	}
	return all
}

// byRule are the moments after the first of a rule of a STANDARD or DAYLIGHT.
func byRule(rule string, start time.Time, from time.Duration) (all []time.Time) {
	if rule == "" || len(rule) > longestRule {
		return all
	}
	o, err := rrule.StrToROption(strings.ToUpper(rule))
	if err != nil || !yearly(o) {
		return all
	}
	until := time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC)
	if !o.Until.IsZero() && o.Until.Add(from).Before(until) {
		until = o.Until.Add(from)
	}
	first := start.Year()
	if o.Count == 0 {
		first = max(first, firstYear)
	}
	count := 0
	for year := first; year <= until.Year(); year++ {
		for _, at := range inYear(o, start, year) {
			if at.Before(start) {
				continue
			}
			if count++; at.After(until) || o.Count > 0 && count > o.Count {
				return all
			}
			if at.After(start) {
				all = append(all, at)
			}
		}
	}
	return all
}

// yearly says whether a rule is one that zones have: on days of one month, every year.
func yearly(o *rrule.ROption) bool {
	if o.Freq != rrule.YEARLY || o.Interval > 1 || len(o.Bymonth) > 1 || len(o.Byweekday) > 1 ||
		len(o.Bysetpos)+len(o.Byyearday)+len(o.Byweekno)+len(o.Byhour)+len(o.Byminute)+len(o.Bysecond)+len(o.Byeaster) > 0 {
		return false
	}
	return len(o.Bymonth) == 1 && o.Bymonth[0] >= 1 && o.Bymonth[0] <= 12 || len(o.Bymonth)+len(o.Byweekday)+len(o.Bymonthday) == 0
}

// inYear are the moments that such a rule has in a year, in order.
func inYear(o *rrule.ROption, start time.Time, year int) (all []time.Time) {
	month := start.Month()
	if len(o.Bymonth) == 1 {
		month = time.Month(o.Bymonth[0])
	}
	days := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	for day := 1; day <= days; day++ {
		at := time.Date(year, month, day, start.Hour(), start.Minute(), start.Second(), 0, time.UTC)
		switch {
		case len(o.Bymonthday) > 0 && !slices.Contains(o.Bymonthday, day) && !slices.Contains(o.Bymonthday, day-days-1):
		case len(o.Byweekday) == 1 && !isDay(o.Byweekday[0], at, days):
		case len(o.Bymonthday)+len(o.Byweekday) == 0 && day != start.Day():
		default:
			all = append(all, at)
		}
	}
	return all
}

// isDay says whether a date is such a day of the week, where that is numbered the one of its month.
func isDay(d rrule.Weekday, at time.Time, days int) bool {
	if (d.Day()+1)%7 != int(at.Weekday()) { // the library's weeks begin on Mondays
		return false
	}
	n := d.N()
	return n == 0 || n == (at.Day()-1)/7+1 || n == -((days-at.Day())/7+1)
}

// farAhead ends what has no end: the library would end it after 292 years.
var farAhead = time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC)

// wallForm is a time without a zone.
const wallForm = "20060102T150405"

// offset reads a UTC-OFFSET such as +0100.
func offset(text string) (time.Duration, bool) {
	if len(text) != 5 && len(text) != 7 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	n, err := strconv.Atoi(text[1:])
	if err != nil {
		return 0, false
	}
	if len(text) == 5 {
		n *= 100
	}
	d := time.Duration(n/10000)*time.Hour + time.Duration(n/100%100)*time.Minute + time.Duration(n%100)*time.Second
	if text[0] == '-' {
		d = -d
	}
	return d, true
}
