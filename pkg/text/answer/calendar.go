package answer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/text/search"
)

// Days are days of the week, Monday first.
type Days [7]bool

// Schedule is what a sentence says of days: on which something is, and on which it is not.
type Schedule struct {
	// On are the days it is about, and Off those it excludes. Told says that it names any.
	On, Off Days
	Told    bool
	// Closed says that on the days it names nothing is open.
	Closed bool
	// Times are the times of day it names, in minutes from midnight, in their order, and
	// Until says that a single one is an end; else it is a beginning.
	Times []int
	Until bool
	// Dates are the days of the year it names.
	Dates []Dates
	// Nths are which weekdays of a month are meant, where not all are, and Only says that
	// what is not named is excluded.
	Nths []int
	Only bool
	// Parts are its days and times where it names several: "Monday to Thursday 9 to 5,
	// Fridays 9 to 2".
	Parts []Part
}

// And are the days of both.
func (d Days) And(other Days) Days {
	for i := range d {
		d[i] = d[i] || other[i]
	}
	return d
}

// ClosedOn are the weekdays that a schedule closes for the whole day: "On Mondays it is closed."
func (s *Schedule) ClosedOn() Days {
	if !s.Closed || len(s.Times) > 0 || len(s.Dates) > 0 || len(s.Nths) > 0 || s.Off != (Days{}) {
		return Days{}
	}
	return s.On
}

// CloseOn adds to a schedule that has times but names no days what another sentence closes: it
// holds on all other days.
func (s *Schedule) CloseOn(closed Days) {
	if s.Told || len(s.Dates) > 0 || len(s.Times) == 0 || closed == (Days{}) {
		return
	}
	s.Told, s.Off = true, closed
	for i := range s.On {
		s.On[i] = !closed[i]
	}
}

// Part is what a part of a sentence says of some days.
type Part struct {
	On     Days
	Closed bool
	Times  []int
	Until  bool
}

// untilForm is a single time that ends something.
var untilForm = regexp.MustCompile(`(?i)(?:until|till|up to|by|clos\w+(?: at)?|bis(?: zu)?|schließ\w+|jusqu'à|ferm\w+ à|hasta|cierra\w* a|fino a\w*|chiud\w+|até|fecha\w*|tot|sluit\w*|do|zamyk\w+)\s(?:las |las |le |as |às |at |um |half an hour before )?(?:\d{1,2}|noon|midi|mediodía|mittags?)|\d時まで|\d点(?:关|闭)|حتى`)

var clockForm = regexp.MustCompile(`(?i)\b(\d{1,2})(?:[:.h](\d{2}))?\s?(a\.?m\.?|p\.?m\.?|uhr|h|uur|時|点)?`)

// ScheduleIn reads the days and times of a sentence.
func ScheduleIn(language, sentence string) Schedule {
	sentence = timed(language, sentence)
	r := scheduleReader{sentence: sentence, keys: byKey(), last: -1}
	for _, m := range search.Meanings(language, sentence) {
		for _, c := range m.Concepts {
			r.read(c, m)
		}
	}
	s := r.schedule
	if r.excluding && s.Told && s.On == (Days{}) {
		s.On = Days{true, true, true, true, true, true, true}
	}
	for i := range s.On {
		s.On[i] = s.On[i] && !s.Off[i]
	}
	s.Times, s.Dates = timesIn(sentence), DatesIn(language, sentence)
	s.Until, s.Only = untilForm.MatchString(sentence), onlyForm.MatchString(sentence)
	s.Parts = r.parts()
	return s
}

// parts are what the sentence says of days one after the other: a part begins where days
// or "closed" follow times, or days follow "closed".
func (r *scheduleReader) parts() []Part {
	if r.excluding || len(r.marks) == 0 {
		return nil
	}
	var cuts []int
	from := 0
	for _, m := range r.marks {
		before := r.sentence[from:m.from]
		if len(timesIn(before)) > 0 && (from > 0 || r.marks[0].from < m.from) {
			from = m.from
			cuts = append(cuts, from)
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	var parts []Part
	start := 0
	for _, cut := range append(cuts, len(r.sentence)) {
		p := Part{Times: timesIn(r.sentence[start:cut]), Until: untilForm.MatchString(r.sentence[start:cut])}
		for _, m := range r.marks {
			if m.from < start || m.from >= cut {
				continue
			}
			p.Closed = p.Closed || m.closed
			for day := range p.On {
				p.On[day] = p.On[day] || m.on[day]
			}
		}
		parts, start = append(parts, p), cut
	}
	return parts
}

// partOf is the part that speaks of a day: of several, the one of the fewest days.
func (s *Schedule) partOf(weekday int) (part *Part) {
	count := func(d Days) (n int) {
		for _, on := range d {
			if on {
				n++
			}
		}
		return n
	}
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.On[weekday] && (part == nil || count(p.On) <= count(part.On)) {
			part = p
		}
	}
	return part
}

// mark is a day, a span of days or "closed" in a sentence.
type mark struct {
	from   int
	on     Days
	closed bool
}

// scheduleReader reads the concepts of a sentence one after the other.
type scheduleReader struct {
	sentence string
	keys     map[string]int
	schedule Schedule
	// excluding says that the days from here on are exceptions.
	excluding bool
	// last is the day before, from which a span may go on, -1 where there is none, and
	// end where it ends.
	last, end int
	marks     []mark
}

func (r *scheduleReader) read(concept int, m search.Meaning) {
	switch concept {
	case r.keys["except"]:
		r.excluding, r.last = true, -1
		return
	case r.keys["closed"]:
		r.schedule.Closed = true
		r.marks = append(r.marks, mark{from: m.From, closed: true})
		return
	}
	set := r.schedule.On[:]
	if r.excluding {
		set = r.schedule.Off[:]
	}
	first := markDays(set, concept, r.keys)
	if first < 0 {
		return
	}
	r.schedule.Told = true
	if first < 7 && !r.excluding {
		r.schedule.Nths = append(r.schedule.Nths, nthsBefore(r.sentence[:m.From])...)
	}
	said := mark{from: m.From}
	markDays(said.on[:], concept, r.keys)
	if r.last >= 0 && first < 7 && r.end <= m.From && spanning(r.sentence[r.end:m.From]) {
		for day := r.last; day != first; day = (day + 1) % 7 {
			set[day], said.on[day] = true, true
		}
		if n := len(r.marks) - 1; n >= 0 {
			said.from = r.marks[n].from // one span
			r.marks = r.marks[:n]
		}
	}
	r.marks = append(r.marks, said)
	if r.last = -1; first < 7 {
		r.last = first
	}
	r.end = m.To
}

// markDays marks the days that a concept means; first is the day, or 7 for several, or
// -1 where it means none.
func markDays(set []bool, concept int, keys map[string]int) (first int) {
	for day, key := range days[:7] {
		if concept == keys[key] {
			set[day] = true
			return day
		}
	}
	var from, to int
	switch concept {
	case keys["daily"]:
		from, to = 0, 7
	case keys["weekday"]:
		from, to = 0, 5
	case keys["weekend"]:
		from, to = 5, 7
	default:
		return -1
	}
	for day := from; day < to; day++ {
		set[day] = true
	}
	return 7
}

// spanning says whether what stands between two days makes them a span: "to", "–".
func spanning(between string) bool {
	between = strings.ToLower(strings.TrimSpace(strings.Trim(between, " .,:")))
	switch strings.Trim(between, " .") {
	case "to", "through", "thru", "until", "till", "bis", "bis zum", "à", "au", "a", "al", "hasta", "til", "tot", "t/m", "tot en met", "do", "-", "–", "—", "ile", "ila", "až", "到", "至", "〜", "～", "إلى", "الى", "حتى", "e", "até", "à la", "日から", "から", "曜日から", "-feira a", "-feira à", "dan", "den", "から日", "曜から":
		return between != "e"
	}
	return strings.Contains(between, "から") || strings.Contains(between, "إلى") || strings.HasSuffix(between, " a") || strings.HasSuffix(between, " à")
}

// timesIn are the times of day that a text names, in minutes.
func timesIn(text string) []int {
	var out []int
	text = noonForm.ReplaceAllString(text, " 12:00 ")
	text = midnightForm.ReplaceAllString(text, " 24:00 ")
	for _, m := range clockForm.FindAllStringSubmatchIndex(text, -1) {
		part := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		hour, err := strconv.Atoi(part(1))
		if err != nil || hour > 24 {
			continue
		}
		minute, _ := strconv.Atoi(part(2))
		half := strings.ToLower(strings.ReplaceAll(part(3), ".", ""))
		if minute > 59 || part(2) == "" && half == "" && !isRange(text, m[0], m[1]) {
			continue
		}
		switch {
		case half == "pm" && hour < 12:
			hour += 12
		case half == "am" && hour == 12:
			hour = 0
		case hour < 12 && (laterAfter.MatchString(text[m[1]:]) || laterBefore.MatchString(text[max(0, m[0]-nearby):m[0]])):
			hour += 12
		}
		out = append(out, hour*60+minute)
	}
	return out
}

// noonForm is midday in words.
var noonForm = regexp.MustCompile(`(?i)\b(?:at noon|noon|midday|mittags|zu mittag|à midi|midi|mediodía|mezzogiorno|meio-dia)\b`)

// midnightForm is the end of a day in words.
var midnightForm = regexp.MustCompile(`(?i)\b(?:midnight|mitternacht|à minuit|minuit|medianoche|mezzanotte|meia-noite|middernacht|północ[yą]?)\b|gece yarısı|午夜|منتصف الليل`)

// isRange says whether a bare number stands beside a dash or "to" and another: "9–17", "9 to 5".
func isRange(text string, from, to int) bool {
	return rangeAfter.MatchString(text[to:]) || rangeBefore.MatchString(text[:from])
}

var (
	rangeAfter  = regexp.MustCompile(`(?i)^\s?(?:[-–—~〜]|to|bis|à|a|al|do|tot)\s?\d{1,2}(?:[:.h]\d{2}|\s?(?:a\.?m|p\.?m|uhr|h|uur)\b)`)
	rangeBefore = regexp.MustCompile(`(?i)\d{1,2}(?:[:.h]\d{2})?\s?(?:uhr|h|a\.?m\.?|p\.?m\.?)?\s?(?:[-–—~〜]|to|bis|à|a|al|do|tot)\s?$`)
)

// Verdict is whether something is on a day, by a sentence that says when.
type Verdict int

// The verdicts.
const (
	Unclear Verdict = iota
	Holds
	Fails
)

// OfDays says whether concepts are of a day or of days.
func OfDays(concepts []int) bool {
	keys := byKey()
	return slices.ContainsFunc(concepts, func(c int) bool {
		for _, key := range days {
			if keys[key] == c {
				return true
			}
		}
		return c == keys["today"] || c == keys["tomorrow"] || c == keys["overmorrow"] || c == keys["now"] || c == keys["holiday"]
	})
}

// OfClock says whether concepts are of a day that the clock tells: today, tomorrow, now.
func OfClock(concepts []int) bool {
	ahead, _ := clockOf(concepts)
	return ahead >= 0
}

// OfLeave says whether concepts only say what somebody asks leave for: to bring or to come
// with what else is named.
func OfLeave(concepts []int) bool {
	return slices.Contains(concepts, byKey()["bring"])
}

// OfPermission says whether concepts only say that something is allowed or not.
func OfPermission(concepts []int) bool {
	keys := byKey()
	return slices.Contains(concepts, keys["allowed"]) || slices.Contains(concepts, keys["forbidden"])
}

// OfPartOfDay says whether concepts are of a part of a day.
func OfPartOfDay(concepts []int) bool {
	keys := byKey()
	return slices.ContainsFunc([]string{"morning", "noon", "evening", "night"}, func(key string) bool { return slices.Contains(concepts, keys[key]) })
}

// OfPaying says whether concepts are of paying.
func OfPaying(concepts []int) bool { return slices.Contains(concepts, byKey()["pay"]) }

// OfTickets says whether concepts are of tickets.
func OfTickets(concepts []int) bool { return slices.Contains(concepts, byKey()["ticket"]) }

// OfEntering says whether concepts are of coming in.
func OfEntering(concepts []int) bool { return slices.Contains(concepts, byKey()["entrance"]) }

// OfHours says whether concepts are of when something is open or closed.
func OfHours(concepts []int) bool {
	keys := byKey()
	return slices.Contains(concepts, keys["hours"]) || slices.Contains(concepts, keys["closed"])
}

// OfHoliday says whether concepts are of a holiday.
func OfHoliday(concepts []int) bool { return slices.Contains(concepts, byKey()["holiday"]) }

// OfHolidays says whether a sentence speaks of holidays.
func OfHolidays(e *Evidence) bool { return e.has("holiday") }

// OfLoss says whether concepts are of something that somebody lost.
func OfLoss(concepts []int) bool { return slices.Contains(concepts, byKey()["lost_found"]) }

// OfYears says whether concepts only say that somebody has an age.
func OfYears(concepts []int) bool {
	keys := byKey()
	return slices.ContainsFunc(concepts, func(c int) bool { return c == keys["year"] || c == keys["age"] || c == keys["number_word"] })
}
