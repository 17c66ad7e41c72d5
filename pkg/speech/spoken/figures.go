package spoken

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// figures are the rules for what is written in figures and read otherwise: dates, numbers of telephones, and ranges.
func figures(language string, l lexicon) []rule {
	rules := append(l.dates(), own[language]...)
	return append(rules,
		rule{match: regexp.MustCompile(`(?:^|[\s(:])((?:\+\d{1,3}[\s./-]?|0)(?:\(0\)\s?)?\d(?:[\s/.-]{0,3}\d){5,13})(?:$|[^\d/:%-])`), say: l.telephone, inner: true},
		rule{match: regexp.MustCompile(`(?:^|\s)(\(\d{3}\)\s?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})(?:$|\D)`), say: l.telephone, inner: true},
		rule{match: regexp.MustCompile(`[\dh](\s?[–—]\s?)\d`), say: fixed(" " + l.until + " "), inner: true},
		rule{match: regexp.MustCompile(`:\d\d(\s?-\s?)\d{1,2}:\d\d`), say: fixed(" " + l.until + " "), inner: true})
}

// dates are the rules for days that are written in figures.
func (l lexicon) dates() []rule {
	months := strings.Fields(l.months)
	say := func(written string, year, month, day string) string {
		m, _ := strconv.Atoi(month)
		d, _ := strconv.Atoi(day)
		if m < 1 || m > len(months) || d < 1 || d > 31 {
			return written
		}
		return strings.NewReplacer("{day}", l.day(d), "{month}", months[m-1], "{year}", l.yearOf(year)).Replace(l.date)
	}
	rules := []rule{{match: regexp.MustCompile(`\b(\d{4})-(\d\d)-(\d\d)\b`), say: func(g []string) string { return say(g[0], g[1], g[2], g[3]) }}}
	dayFirst := func(g []string) string { return say(g[0], g[3], g[2], g[1]) }
	switch l.numeric {
	case dots:
		rules = append(rules, rule{match: regexp.MustCompile(`\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b`), say: dayFirst})
	case dashes:
		rules = append(rules, rule{match: regexp.MustCompile(`\b(\d{1,2})-(\d{1,2})-(\d{4})\b`), say: dayFirst})
	case slashes:
		rules = append(rules, rule{match: regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`), say: dayFirst})
	case american:
		rules = append(rules, rule{match: regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`), say: func(g []string) string {
			if first, _ := strconv.Atoi(g[1]); first > 12 {
				return dayFirst(g)
			}
			return say(g[0], g[3], g[1], g[2])
		}})
	}
	return rules
}

// day is how the day of a date is said.
func (l lexicon) day(d int) string {
	if l.ordinal != nil {
		return l.ordinal(d)
	}
	return strconv.Itoa(d)
}

func (l lexicon) yearOf(year string) string {
	if l.year != nil {
		return l.year(year)
	}
	return year
}

// english is a day as English has it: the engine reads 26th as a word.
func english(d int) string {
	switch {
	case d%10 == 1 && d != 11:
		return fmt.Sprintf("%dst", d)
	case d%10 == 2 && d != 12:
		return fmt.Sprintf("%dnd", d)
	case d%10 == 3 && d != 13:
		return fmt.Sprintf("%drd", d)
	}
	return fmt.Sprintf("%dth", d)
}

// french is a day as French has it.
func french(d int) string {
	if d == 1 {
		return "premier"
	}
	return strconv.Itoa(d)
}

// german is a day as German has it after am, vom, bis and den: the engine reads 26. as a number that is counted.
func german(d int) string {
	ones := strings.Fields("ein zwei drei vier fünf sechs sieben acht neun")
	switch d {
	case 1:
		return "ersten"
	case 3:
		return "dritten"
	case 7:
		return "siebten"
	case 8:
		return "achten"
	case 10:
		return "zehnten"
	case 11:
		return "elften"
	case 12:
		return "zwölften"
	case 16:
		return "sechzehnten"
	case 17:
		return "siebzehnten"
	case 20:
		return "zwanzigsten"
	case 30:
		return "dreißigsten"
	}
	switch {
	case d < 10:
		return ones[d-1] + "ten"
	case d < 20:
		return ones[d-11] + "zehnten"
	case d < 30:
		return ones[d-21] + "undzwanzigsten"
	}
	return ones[d-31] + "unddreißigsten"
}

// own are rules of single languages.
var own = map[string][]rule{
	"de": {{match: regexp.MustCompile(`\b(der\s)?([12]?\d|3[01])\.(\s(?:` + strings.ReplaceAll(lexicons["de"].months, " ", "|") + `)\b)`), say: func(g []string) string {
		d, _ := strconv.Atoi(g[2])
		if d == 0 {
			return g[0]
		}
		said := german(d)
		if g[1] != "" {
			said = strings.TrimSuffix(said, "n")
		}
		return g[1] + said + g[3]
	}}},
	"fr": {{match: regexp.MustCompile(`\b1(?:er)?(\s(?:` + strings.ReplaceAll(lexicons["fr"].months, " ", "|") + `))`), say: func(g []string) string { return "premier" + g[1] }},
		{match: regexp.MustCompile(`\b([01]?\d|2[0-4])\s?h(?:\s?([0-5]\d))?\b`), say: func(g []string) string { return strings.TrimSpace(g[1] + " heures " + g[2]) }}},
	"zh": mandarin,
}

// telephone says the number of a telephone digit by digit, with a pause where it is written apart.
func (l lexicon) telephone(g []string) string {
	var groups []string
	number := strings.ReplaceAll(g[1], "(0)", " ")
	for _, part := range strings.FieldsFunc(number, func(r rune) bool { return !unicode.IsDigit(r) }) {
		groups = append(groups, digits(part, " "))
	}
	said := strings.Join(groups, ", ")
	if strings.HasPrefix(g[1], "+") {
		said = l.plus + " " + said
	}
	return said
}

// digits are the digits of a number, apart.
func digits(number, between string) string { return strings.Join(strings.Split(number, ""), between) }
