package answer

import (
	"regexp"
	"slices"
	"strings"
)

// lastOf stands for the last of a month's weekdays, beside the first, which is 1.
const lastOf = -1

// ordinalForm matches whole words, also those that begin or end beyond ASCII.
func ordinalForm(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}])(?:` + words + `)(?:$|[^\p{L}\p{N}])`)
}

// ordinals are the words for which of a month's weekdays is meant, by what they count.
var ordinals = []struct {
	nth  int
	form *regexp.Regexp
}{
	{1, ordinalForm(`first|1st|erste[rnms]?|premier|1er|primer|primero|primo|primeir[oa]|prima|eerste|pierwsz\p{L}+|ilk`)},
	{2, ordinalForm(`second|2nd|zweite[rnms]?|deuxième|2e|segund[oa]|second[oa]|tweede|drug\p{L}{1,3}|ikinci`)},
	{3, ordinalForm(`third|3rd|dritte[rnms]?|troisième|3e|tercer|tercero|terz[oa]|terceir[oa]|derde|trzeci\p{L}*|üçüncü`)},
	{4, ordinalForm(`fourth|4th|vierte[rnms]?|quatrième|4e|cuarto|quart[oa]|vierde|czwart[yea]\p{L}*|dördüncü`)},
	{lastOf, ordinalForm(`last|letzte[rnms]?|dernier|último|ultim[oa]|última|laatste|ostatni\p{L}*|son`)},
}

// ordinalBefore is how many bytes before a weekday say which of the month's is meant.
const ordinalBefore = 40

// nthsBefore are which of a month's weekdays are meant, by what stands right before one:
// "the first and third Thursday". There are none where all are.
func nthsBefore(text string) []int {
	if cut := len(text) - ordinalBefore; cut > 0 {
		text = text[cut:]
	}
	text = tailForm.FindString(text)
	var out []int
	for _, o := range ordinals {
		if o.form.MatchString(text) {
			out = append(out, o.nth)
		}
	}
	return out
}

// tailForm is the end of a text with ordinals and what joins them, and nothing else.
var tailForm = func() *regexp.Regexp {
	all := []string{`and|und|et|y|e|en|i|oder|ou|or|le|la|the|am|jeden?|jede|im|el|il|lo|o|a|de|op|w|ve|,|&`}
	for _, o := range ordinals {
		all = append(all, o.form.String())
	}
	return regexp.MustCompile(`(?i)(?:(?:` + strings.Join(all, "|") + `)\s*)+$`)
}()

// isNth says whether a day of the year, month*100+day, is one of those weekdays of its
// month.
func isNth(date int, nths []int) bool {
	day := date % 100
	return slices.Contains(nths, (day+6)/7) || slices.Contains(nths, lastOf) && day+7 > daysIn[date/100%13]
}

// daysIn are the days of the months. The last day of February is taken for the 28th.
var daysIn = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// onlyForm are the words that exclude what is not named.
var onlyForm = regexp.MustCompile(`(?i)\b(?:only|nur|uniquement|seulement|sólo|solo|únicamente|soltanto|solamente|só|apenas|somente|alleen|slechts|tylko|wyłącznie|sadece|yalnızca)\b|只|仅|のみ|だけ|فقط`)
