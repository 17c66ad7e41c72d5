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
}

// untilForm is a single time that ends something.
var untilForm = regexp.MustCompile(`(?i)(?:until|till|up to|by|clos\w+(?: at)?|bis(?: zu)?|schließ\w+|jusqu'à|ferm\w+ à|hasta|cierra\w* a|fino a\w*|chiud\w+|até|fecha\w*|tot|sluit\w*|do|zamyk\w+)\s(?:las |las |le |as |às |at |um |half an hour before )?(?:\d{1,2}|noon|midi|mediodía|mittags?)|\d時まで|\d点(?:关|闭)|حتى`)

var clockForm = regexp.MustCompile(`(?i)\b(\d{1,2})(?:[:.h](\d{2}))?\s?(a\.?m\.?|p\.?m\.?|uhr|h|uur|時|点)?`)

// ScheduleIn reads the days and times of a sentence.
func ScheduleIn(language, sentence string) Schedule {
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
	s.Until = untilForm.MatchString(sentence)
	return s
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
}

func (r *scheduleReader) read(concept int, m search.Meaning) {
	switch concept {
	case r.keys["except"]:
		r.excluding, r.last = true, -1
		return
	case r.keys["closed"]:
		r.schedule.Closed = true
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
	if r.last >= 0 && first < 7 && r.end <= m.From && spanning(r.sentence[r.end:m.From]) {
		for day := r.last; day != first; day = (day + 1) % 7 {
			set[day] = true
		}
	}
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
		}
		out = append(out, hour*60+minute)
	}
	return out
}

// noonForm is midday in words.
var noonForm = regexp.MustCompile(`(?i)\b(?:at noon|noon|midday|mittags|zu mittag|à midi|midi|mediodía|mezzogiorno|meio-dia)\b`)

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

// OfYears says whether concepts only say that somebody has an age.
func OfYears(concepts []int) bool {
	keys := byKey()
	return slices.ContainsFunc(concepts, func(c int) bool { return c == keys["year"] || c == keys["age"] || c == keys["number_word"] })
}
