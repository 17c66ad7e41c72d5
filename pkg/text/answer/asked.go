package answer

import (
	"regexp"
	"slices"
	"strconv"
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
	// Undated says that only a weekday was named, of any week, and Dayless that no day was
	// at all: only a time.
	Undated, Dayless bool
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
	case days < 0 && len(spokenTimes(language, text)) == 1:
		a.Undated, a.Dayless, clocked = true, true, false // a time of any day: of today's as well
	case days < 0:
		return Asked{At: -1}, false
	default:
		now = now.AddDate(0, 0, days)
	}
	a.Weekday, a.Date, a.Clocked = mondayFirst(now), dayOf(now), clocked
	if times := spokenTimes(language, text); len(times) == 1 {
		a.At = times[0]
	} else if at := partOfDay(text); a.At < 0 && len(times) == 0 && at >= 0 {
		a.At = at
	}
	return a, true
}

// spokenTimes are the times of day that a question names, in figures or in words.
func spokenTimes(language, text string) []int {
	if times := timesIn(text); len(times) > 0 {
		if len(times) == 1 && times[0] < noon && laterForm.MatchString(text) && !morningForm.MatchString(text) {
			times[0] += noon
		}
		return times
	}
	m := bareForm.FindStringSubmatch(digits(language, text))
	if m == nil {
		return nil
	}
	hour, err := strconv.Atoi(m[1])
	if err != nil || hour > 24 {
		return nil
	}
	if hour < 8 && !morningForm.MatchString(text) || hour < 12 && laterForm.MatchString(text) && !morningForm.MatchString(text) {
		hour += 12 // nobody visits at five in the morning
	}
	return []int{hour * 60}
}

// noon is midday in minutes.
const noon = 12 * 60

var (
	// bareForm is an hour without its unit, as it is said in words: "at five".
	bareForm      = regexp.MustCompile(`\b(?:at|a las|um|gegen|vers|alle|as|om|o godzinie|saat|it s|its)\s(\d{1,2})(?:$|\s(?:de la|del|in the|o clock|in|de|da|di|po|tonight|today|on|heute|am|aujourd|oggi|hoy|hoje)\b)`)
	laterForm     = regexp.MustCompile(`(?i)\b(?:afternoon|evening|tonight|nachmittags?|abends?|après-midi|soir|de la tarde|de la noche|pomeriggio|di sera|stasera|da tarde|da noite|'s middags|'s avonds|vanavond|po południu|wieczorem|akşam|öğleden sonra)\b|下午|晚上|午後|夜|مساء`)
	morningForm   = regexp.MustCompile(`(?i)\b(?:morning|vormittags?|morgens|du matin|de la mañana|di mattina|da manhã|'s ochtends|rano|sabah|a\.?m)\b|上午|早上|午前|朝|صباحا`)
	afternoonForm = regexp.MustCompile(`(?i)\b(?:afternoon|nachmittags?|après-midi|por la tarde|pomeriggio|à tarde|vanmiddag|middags?|po południu|popołudniu|öğleden sonra)\b|下午|午後|بعد الظهر`)
	eveningForm   = regexp.MustCompile(`(?i)\b(?:evening|tonight|abends?|ce soir|le soir|por la noche|esta noche|stasera|di sera|à noite|esta noite|vanavond|avonds?|wieczorem|akşam)\b|晚上|今晚|今夜|مساء`)
)

// partOfDay is a time in the part of the day that a question names, negative where none.
func partOfDay(text string) int {
	switch {
	case afternoonForm.MatchString(text):
		return 15 * 60
	case eveningForm.MatchString(text):
		return 20 * 60
	}
	return -1
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
	case s.Told && on && s.Only && dated == Elsewhere, s.Told && on && len(s.Nths) > 0 && !isNth(a.Date, s.Nths):
		return Fails
	case !told || dated == Elsewhere:
		return Unclear
	case s.Told && s.Off[a.Weekday]:
		return Fails
	case !on && dated != Named:
		return Unclear
	case s.partOf(a.Weekday) != nil && s.Told:
		return s.partOf(a.Weekday).says(a.At)
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
		from, to := s.Times[i], s.Times[i+1]
		if to <= from && i+2 >= len(s.Times) {
			to += 24 * 60 // past midnight
		}
		if minute >= from && minute < to {
			return Holds
		}
	}
	return Fails
}

// says is what a part says of a time of its days, negative for the whole day.
func (p *Part) says(at int) Verdict {
	switch {
	case p.Closed && len(p.Times) == 0:
		return Fails
	case at < 0:
		return Holds
	}
	s := Schedule{Times: p.Times, Until: p.Until}
	return s.at(at)
}
