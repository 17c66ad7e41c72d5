package answer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/text/search"
)

// Dates are days of the year from one to another, each month*100+day; the end may lie
// before the beginning, and is then the next year's.
type Dates struct{ From, To int }

// Holds says whether a day lies within.
func (d Dates) Holds(day int) bool {
	if d.From <= d.To {
		return day >= d.From && day <= d.To
	}
	return day >= d.From || day <= d.To
}

// Single says whether it is one day.
func (d Dates) Single() bool { return d.From == d.To }

var (
	wideDate  = regexp.MustCompile(`(\d{1,2})月(?:(\d{1,2})[日号])?`)
	wideRange = regexp.MustCompile(`^\s*(?:から|到|至|〜|～|-|–)`)
	rangeWord = map[string]bool{
		"to": true, "through": true, "until": true, "till": true, "bis": true, "au": true, "al": true, "a": true, "hasta": true,
		"ate": true, "tot": true, "do": true, "الي": true, "حتي": true, "الى": true, "حتى": true, "إلى": true, "ile": true, "and": false,
	}
	// betweenWord may stand between the day and the month or the days of a date.
	betweenWord = map[string]bool{
		"of": true, "de": true, "den": true, "dem": true, "le": true, "the": true, "el": true, "il": true, "del": true, "st": true, "nd": true, "rd": true, "th": true,
		"zum": true, "met": true, "en": true, "du": true, "l": true, "o": true, "di": true, "dia": true, "and": true, "und": true, "et": true, "y": true, "e": true, "i": true, "ve": true, "و": true, "er": true, "1er": true,
	}
)

// DatesIn are the dates that a text names: days, spans of days, and whole months.
func DatesIn(language, text string) []Dates {
	if out := wideDates(text); len(out) > 0 {
		return out
	}
	n := namesOf()[base(language)]
	if n == nil {
		return nil
	}
	r := dateReader{words: []string(search.NewPhrase(signs.ReplaceAllString(n.figured(base(language), text), " to "))), names: n, monthFirst: n.monthFirst}
	return r.read()
}

// figuredForm are dates in figures alone, with a full stop after the month or a stroke between: "24.12.",
// "24/12".
var figuredForm = regexp.MustCompile(`(?:^|[^\d.,:/])(?:(\d{1,2})\.\s?(\d{1,2})\.|(\d{1,2})/(\d{1,2}))(/?(?:\d{4}|\d{2}))?(?:$|[^\d/])`)

var (
	// dotted are the languages that write a date as "24.12." without a year; in others that ends a
	// number, as of a section.
	dotted = map[string]bool{"de": true, "nl": true, "pl": true, "tr": true}
	// undatedForm stands before figures that are no date: a time, the number of a section, or the end of
	// a span of times.
	undatedForm = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:at|um|gegen|om|alle|à|às|las|ore|saat|godz\.?|godzin\p{L}*|sections?|chapter|clause|rule|item|version|v\.?|paragraph|article|abschnitt|abs\.?|kapitel|ziffern?|punkt\p{L}*|nummer|nr\.?|no\.?|artikel|art\.?|article|chapitre|paragraphe|artículo|sección|articolo|sezione|artigo|seção|hoofdstuk|paragraaf|rozdzia\p{L}*|pkt\.?|bölüm|madde|fig\.?|tab\.?)\s*$|§§?\s*$|\d[.:]\d\d\s*(?:bis|und|to|tot|do|i|en|ve|-|–|—)\s*$`)
	// hourUnit stands after a time.
	hourUnit = regexp.MustCompile(`(?i)^\s*(?:uhr|uur|godz|saat|h)(?:$|[^\p{L}])`)
	// headed stands after the number of a heading: a word with a capital.
	headed = regexp.MustCompile(`^\s+\p{Lu}`)
)

// figured is a text with its dates in figures as it would name the month.
func (n *calendarNames) figured(language, text string) string {
	if !strings.ContainsAny(text, "./") {
		return text
	}
	var b strings.Builder
	end := 0
	for _, m := range figuredForm.FindAllStringSubmatchIndex(text, -1) {
		group := func(k int) string { return text[max(m[2*k], 0):max(m[2*k+1], 0)] }
		stroke := m[6] >= 0
		from, to := max(m[2], m[6]), max(m[5], m[9])
		year := m[10] >= 0
		after := strings.TrimPrefix(text[max(to, m[11]):], ".")
		heading := strings.Trim(text[:from], " -#*") == "" && headed.MatchString(after)
		if undatedForm.MatchString(text[:from]) || !stroke && (!year && !dotted[language] || heading || hourUnit.MatchString(after)) {
			continue
		}
		day, _ := strconv.Atoi(group(1) + group(3))
		month, _ := strconv.Atoi(group(2) + group(4))
		if always := day == 24 && month == 7 || language == "tr" && day == 7 && month == 24; stroke && (!year && always || (day > 12) == (month > 12)) {
			continue // every hour of the week, half of something, or which is which cannot be told
		}
		if stroke && month > 12 {
			day, month = month, day
		}
		at := slices.IndexFunc(n.months, func(name naming) bool { return name.value == month })
		if at < 0 || day < 1 || day > 31 {
			continue
		}
		named := strconv.Itoa(day) + " " + strings.Join(n.months[at].phrase, " ")
		if n.monthFirst {
			named = strings.Join(n.months[at].phrase, " ") + " " + strconv.Itoa(day)
		}
		b.WriteString(text[end:m[0]] + " " + named + " ")
		end = m[1]
	}
	return b.String() + text[end:]
}

// signs are dashes between dates.
var signs = regexp.MustCompile(`\s?[–—]\s?`)

// wideDates are those of Chinese and Japanese.
func wideDates(text string) []Dates {
	var out []Dates
	end := -1
	for _, m := range wideDate.FindAllStringSubmatchIndex(text, -1) {
		month, _ := strconv.Atoi(text[m[2]:m[3]])
		d := Dates{month*100 + 1, month*100 + 31}
		if m[4] >= 0 {
			day, _ := strconv.Atoi(text[m[4]:m[5]])
			d = Dates{month*100 + day, month*100 + day}
		}
		if end >= 0 && wideRange.MatchString(text[end:m[0]]) {
			out[len(out)-1].To = d.To
		} else {
			out = append(out, d)
		}
		end = m[1]
	}
	return out
}

// dateReader reads dates from words.
type dateReader struct {
	words      []string
	names      *calendarNames
	monthFirst bool
}

func (r *dateReader) read() []Dates {
	var out []Dates
	last := -1 // where the date before ended
	for i := 0; i < len(r.words); i++ {
		if value, size := named(r.names.holidays, r.words[i:]); size > 0 {
			out = append(out, Dates{value, value})
			i += size - 1
			continue
		}
		month, size := named(r.names.months, r.words[i:])
		if size == 0 {
			continue
		}
		if r.words[i] == "may" && !r.besideNumber(i) && !r.besideMonth(i) {
			continue // the verb
		}
		some, from, to := r.days(month, i, size)
		if last >= 0 && len(out) > 0 && len(some) > 0 && r.ranges(last, from) {
			out[len(out)-1].To = some[0].To
			some = some[1:]
		}
		out = append(out, some...)
		last, i = to, to-1
	}
	return out
}

func (r *dateReader) number(i int) (int, bool) {
	if i < 0 || i >= len(r.words) {
		return 0, false
	}
	n, err := strconv.Atoi(r.words[i])
	return n, err == nil && n >= 1 && n <= 31
}

func (r *dateReader) besideNumber(i int) bool {
	_, before := r.number(i - 1)
	_, after := r.number(i + 1)
	return before || after
}

// besideMonth says whether another month stands within two words: "May to September",
// or a word that only stands before times.
func (r *dateReader) besideMonth(i int) bool {
	if i > 0 && slices.Contains([]string{"in", "from", "until", "since", "by", "of"}, r.words[i-1]) {
		return true
	}
	return i+2 < len(r.words) && rangeWord[r.words[i+1]]
}

// days are the days of a month that is named at i, and where their words begin and end.
func (r *dateReader) days(month, i, size int) (out []Dates, from, to int) {
	from, to = i, i+size
	var numbers []int
	var spans []bool // that a number goes on from the one before
	step := -1
	at := i - 1
	if _, after := r.number(to); r.monthFirst && after {
		step, at = 1, to
	}
	span := false
	for ; at >= 0 && at < len(r.words); at += step {
		word := r.words[at]
		if n, ok := r.number(at); ok {
			numbers, spans = append(numbers, n), append(spans, span)
			span = false
			from, to = min(from, at), max(to, at+1)
			continue
		}
		if strings.HasPrefix(word, "1") && (word == "1er") {
			numbers, spans = append(numbers, 1), append(spans, span)
			from, span = min(from, at), false
			continue
		}
		if rangeWord[word] {
			if len(numbers) == 0 && step < 0 {
				break
			}
			// A month may follow instead of a day: "April 1 to October 31".
			if _, ok := r.number(at + step); !ok && !betweenWord[r.at(at+step)] {
				break
			}
			span = true
			continue
		}
		if !betweenWord[word] {
			break
		}
	}
	if step < 0 {
		slices.Reverse(numbers)
		// What was read backwards goes on to the number after it.
		spans = append(spans[min(1, len(spans)):], false)
		slices.Reverse(spans)
	}
	return daysOf(month, numbers, spans), from, to
}

// daysOf are the days of a month by their numbers, or all of it where there are none. The
// spans say of each number whether it ends what the one before begins.
func daysOf(month int, numbers []int, spans []bool) []Dates {
	if len(numbers) == 0 {
		return []Dates{{month*100 + 1, month*100 + 31}}
	}
	var out []Dates
	for k, n := range numbers {
		day := month*100 + n
		if spans[k] && len(out) > 0 {
			out[len(out)-1].To = day
			continue
		}
		out = append(out, Dates{day, day})
	}
	return out
}

func (r *dateReader) at(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	return r.words[i]
}

// ranges says whether what stands between two dates makes them a span.
func (r *dateReader) ranges(from, to int) bool {
	if to < from || to-from > 4 {
		return false
	}
	for _, word := range r.words[from:to] {
		if rangeWord[word] {
			return true
		}
	}
	return false
}

// dayOf is a time's day of the year as month*100+day.
func dayOf(t time.Time) int { return int(t.Month())*100 + t.Day() }
