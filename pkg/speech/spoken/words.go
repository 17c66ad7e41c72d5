package spoken

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

func fixed(said string) func([]string) string { return func([]string) string { return said } }

func nth(n int) func([]string) string { return func(g []string) string { return g[n] } }

// formatting are the marks that are never read out, in any language: of Markdown, of code,
// of characters that are pictures.
var formatting = []rule{
	{match: regexp.MustCompile("```[^`]*```"), say: fixed(" ")},
	{match: regexp.MustCompile(`!?\[([^\]]*)\]\([^)\s]*\)`), say: nth(1)},
	{match: regexp.MustCompile(`(?m)^\s{0,3}(?:#{1,6}|>|[-*+])\s+`), say: fixed("")},
	{match: regexp.MustCompile("[*_]{2,3}|~~|`+"), say: fixed("")},
	{match: regexp.MustCompile(`\*(\S[^*]*\S|\S)\*`), say: nth(1)},
	{match: regexp.MustCompile(`(?:^|\s)_(\S[^_]*\S|\S)_`), say: func(g []string) string { return " " + g[1] }},
	{match: regexp.MustCompile(`<[a-zA-Z/!][^>]{0,200}>`), say: fixed(" ")},
	{match: regexp.MustCompile(`[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{FE0F}\x{200D}]+`), say: fixed(" ")},
	{match: regexp.MustCompile(`[|•·→⇒]`), say: fixed(", ")},
}

const numeral = `(\d+(?:[.,]\d{3})*)`

// rulesOf are a language's own rules, made once. A language without a lexicon has those
// for addresses alone, whose marks are read in English as their names mostly are.
var rulesOf = func() func(string) []rule {
	var mu sync.Mutex
	made := map[string][]rule{}
	return func(language string) []rule {
		base, _, _ := strings.Cut(language, "-")
		mu.Lock()
		defer mu.Unlock()
		rules, ok := made[base]
		if !ok {
			l, known := lexicons[base]
			if rules = addresses(lexicons["en"]); known {
				rules = slices.Concat(addresses(l), figures(base, l), l.rules())
			}
			made[base] = rules
		}
		return rules
	}
}()

// addresses reads mail addresses and links as people do: without what only machines need.
func addresses(l lexicon) []rule {
	read := func(text string) string {
		return strings.Join(strings.Fields(strings.NewReplacer(
			"@", " "+l.at+" ", ".", " "+l.dot+" ", "-", " "+l.dash+" ", "_", " ", "/", " "+l.slash+" ",
		).Replace(text)), " ")
	}
	return []rule{
		{match: regexp.MustCompile(`\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b`), say: func(g []string) string { return read(g[0]) }},
		{match: regexp.MustCompile(`(?i)\b(?:https?://(?:www\.)?|www\.)([\w-]+(?:\.[\w-]+)+)(?:/[^\s,;)]*[\w/]|/)?`), say: func(g []string) string { return read(g[1]) }},
	}
}

func (l lexicon) rules() []rule {
	var rules []rule
	for _, text := range longestFirst(l.short) {
		said := l.short[text]
		pattern := strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\s?`)
		rules = append(rules, rule{match: regexp.MustCompile(`(^|[\s("„«])` + pattern + boundary(text)), say: func(g []string) string { return g[1] + said }})
	}
	for _, sign := range longestFirst(l.money) {
		rules = append(rules, l.prices(sign, l.money[sign])...)
	}
	for _, sign := range longestFirst(l.units) {
		name := l.units[sign]
		rules = append(rules, rule{match: regexp.MustCompile(`(\d)\s?` + regexp.QuoteMeta(sign) + unitEnd), say: func(g []string) string { return g[1] + " " + name + g[2] }})
	}
	return append(rules,
		rule{match: regexp.MustCompile(`\b([01]?\d|2[0-3]):([0-5]\d)\b(?:\s?Uhr\b|\s?uur\b|\s?o'clock\b)?`), say: l.time},
		rule{match: regexp.MustCompile(`%\s?(\d+(?:[.,]\d+)?)|(\d+(?:[.,]\d+)?)\s?%`), say: l.share},
		rule{match: regexp.MustCompile(`\s&\s`), say: fixed(" " + l.and + " ")})
}

// longestFirst has "Sig.ra" be found before "Sig.".
func longestFirst[V any](by map[string]V) []string {
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// boundary is what must follow an abbreviation: one that ends in a letter ends there.
func boundary(text string) string {
	if strings.HasSuffix(text, ".") {
		return ""
	}
	return `\b`
}

// unitEnd is what may follow a unit, for a letter more would make another word of it.
const unitEnd = `($|[\s.,;:!?)\p{Han}])`

// prices are the rules for amounts in a currency, before or after its sign. One that is of letters comes after.
func (l lexicon) prices(sign string, names [2]string) []rule {
	quoted, say := regexp.QuoteMeta(sign), l.amount(names)
	if last, _ := utf8.DecodeLastRuneInString(sign); last == '.' || unicode.IsLetter(last) {
		return []rule{{match: regexp.MustCompile(`\b` + numeral + `(?:[.,](\d{2}))?\s?` + quoted + unitEnd), say: say}}
	}
	return []rule{
		{match: regexp.MustCompile(quoted + `\s?` + numeral + `(?:[.,](\d{2}))?\b`), say: say},
		{match: regexp.MustCompile(`\b` + numeral + `(?:[.,](\d{2}))?\s?` + quoted), say: say},
	}
}

// share says a percentage.
func (l lexicon) share(g []string) string {
	number := g[1] + g[2]
	if l.percentFirst {
		return l.percent + " " + number
	}
	return number + " " + l.percent
}

// amount says money: its units after the number, and then its hundredths.
func (l lexicon) amount(names [2]string) func([]string) string {
	return func(g []string) string {
		name := names[1]
		if g[1] == "1" {
			name = names[0]
		}
		said := g[1] + " " + name
		if g[2] != "" && g[2] != "00" {
			said += " " + strings.TrimSpace(l.join+" "+strings.TrimPrefix(g[2], "0"))
		}
		if len(g) > 3 {
			said += g[3]
		}
		return said
	}
}

// time says a time of day.
func (l lexicon) time(g []string) string {
	hour, minutes := strings.TrimPrefix(g[1], "0"), strings.TrimPrefix(g[2], "0")
	if hour == "" {
		hour = "0"
	}
	switch {
	case g[2] == "00":
		return strings.TrimSpace(hour + " " + l.whole)
	case len(minutes) == 1 && l.oClock == "":
		minutes = "0 " + minutes
	}
	return strings.Join(strings.Fields(hour+" "+l.oClock+" "+minutes), " ")
}
