package answer

import (
	"slices"
	"time"

	"visavis.dev/pkg/text/search"
)

// Asked is the day that a question is about.
type Asked struct {
	// Weekday is 0 for Monday.
	Weekday int
	// At is the time of that day in minutes, negative where none is asked about.
	At int
	// Date is the day of the year as month*100+day. A whole month has the day 15.
	Date int
	// Clocked says that the day was named by where it lies from now: "tomorrow".
	Clocked bool
	// Undated says that only a weekday was named, of any week.
	Undated bool
}

// AskedDay is the day that a question is about: one that it names, by the weekday or by
// the date, or today, tomorrow and now by the clock.
func AskedDay(language, text string, now time.Time) (a Asked, asked bool) {
	a.At = -1
	days, clocked := -1, false
	weekday := -1
	for _, m := range search.Understand(language, text) {
		if w := weekdayOf(m.Concepts); w >= 0 {
			weekday = w
		}
		switch ahead, at := clockOf(m.Concepts); {
		case ahead < 0:
		case at:
			days, clocked, a.At = 0, true, now.Hour()*60+now.Minute()
		case !clocked:
			days, clocked = ahead, true
		}
	}
	dates := DatesIn(language, text)
	switch {
	case len(dates) > 0 && days < 0:
		now = dateAfter(now, dates[0])
	case weekday >= 0:
		days, a.Undated, clocked = (weekday-mondayFirst(now)+7)%7, true, false
		now = now.AddDate(0, 0, days)
	case days < 0:
		return Asked{At: -1}, false
	default:
		now = now.AddDate(0, 0, days)
	}
	a.Weekday, a.Date, a.Clocked = mondayFirst(now), dayOf(now), clocked
	if times := timesIn(text); len(times) == 1 {
		a.At = times[0]
	}
	return a, true
}

func mondayFirst(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// dateAfter is the next day that dates name, the middle of several.
func dateAfter(now time.Time, d Dates) time.Time {
	month, day := d.From/100, d.From%100
	if !d.Single() {
		day = 15
	}
	year := now.Year()
	if d.To < dayOf(now) && d.From <= d.To {
		year++
	}
	return time.Date(year, time.Month(month), day, 12, 0, 0, 0, now.Location())
}

// weekdayOf is the weekday that concepts name, negative where they name none.
func weekdayOf(concepts []int) int {
	keys := byKey()
	for i, key := range days[:7] {
		if slices.Contains(concepts, keys[key]) {
			return i
		}
	}
	return -1
}

// clockOf is how many days ahead of today concepts name, negative where they name none,
// and whether they are of this moment.
func clockOf(concepts []int) (ahead int, now bool) {
	keys := byKey()
	switch {
	case slices.Contains(concepts, keys["now"]):
		return 0, true
	case slices.Contains(concepts, keys["overmorrow"]):
		return 2, false
	case slices.Contains(concepts, keys["tomorrow"]):
		return 1, false
	case slices.Contains(concepts, keys["today"]):
		return 0, false
	}
	return -1, false
}

// Dated is what a schedule's dates say of a day.
type Dated int

// What dates say: nothing; that the day is another; that it lies within a span of days;
// that it is named itself.
const (
	Undated Dated = iota
	Elsewhere
	Within
	Named
)

// Dated says what the dates of a schedule say of a day.
func (s *Schedule) Dated(a Asked) Dated {
	if len(s.Dates) == 0 {
		return Undated
	}
	for _, d := range s.Dates {
		if d.Holds(a.Date) && d.Single() && !a.Undated {
			return Named
		}
	}
	for _, d := range s.Dates {
		if d.Holds(a.Date) {
			return Within
		}
	}
	return Elsewhere
}

// Says is what a schedule says of a day, and of a time of that day where one is asked about.
func (s *Schedule) Says(a Asked) Verdict {
	dated := s.Dated(a)
	told := s.Told || dated != Undated
	on := !s.Told || s.On[a.Weekday]
	switch {
	case !told || dated == Elsewhere:
		return Unclear
	case s.Told && s.Off[a.Weekday]:
		return Fails
	case !on && dated != Named:
		return Unclear
	case s.Closed && s.Off == (Days{}) && len(s.Times) == 0:
		return Fails
	case a.At >= 0:
		return s.at(a.At)
	default:
		return Holds
	}
}

// at is what a schedule's times say of a time.
func (s *Schedule) at(minute int) Verdict {
	switch {
	case len(s.Times) == 0:
		return Unclear
	case len(s.Times) == 1 && (minute < s.Times[0]) == s.Until:
		return Holds
	case len(s.Times) == 1:
		return Fails
	}
	for i := 0; i+1 < len(s.Times); i += 2 {
		if minute >= s.Times[i] && minute < s.Times[i+1] {
			return Holds
		}
	}
	return Fails
}
