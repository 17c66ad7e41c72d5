package conversation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/numeral"
	"visavis.dev/pkg/text/search"
)

// figures are the exact things that a text states.
type figures struct {
	// numbers are in their canonical forms, each as it may be read.
	numbers [][]string
	times   []timeOfDay
	// prices are amounts with their currency.
	prices []price
	// contacts are addresses of e-mail and of pages, in lower case.
	contacts []string
	names    []string
	days     answer.Days
}

// timeOfDay is in minutes from midnight; sure says that it is known whether it is before
// or after noon.
type timeOfDay struct {
	minutes int
	sure    bool
}

type price struct {
	amounts  []string
	currency string
}

var (
	contactForm = regexp.MustCompile(`(?i)[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:https?://|www\.)[^\s<>()"']+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|eu|de|fr|es|it|pt|nl|pl|tr|cn|jp|uk|ch|at|io|dev|info)\b(?:/[^\s<>()"']*)?`)
	itemForm    = regexp.MustCompile(`^\s*\d+[.)]\s`)
	numberForm  = regexp.MustCompile(`\d+(?:[.,'’\x{00a0}\x{202f}]\d+)*`)
	// timeForm is a time of day with what shows that it is one.
	timeForm = regexp.MustCompile(`(?i)(` + mornings + `|` + evenings + `)?\s*(\b\d{1,2})(?:\s?[:.h]\s?(\d{2})\b)?\s?(?:(a\.?m\b\.?|p\.?m\b\.?)|(o'clock|uhr|h\b|heures?|uur|時|时|点|點))?\s*(?:in the |of the |de la |del? |du |de l'|di |da |'s |في |)?(` + mornings + `|` + evenings + `)?`)
	halfForm = regexp.MustCompile(`(?i)\b(?:halb|half)\s(\d{1,2})\b`)
	noonForm = regexp.MustCompile(`(?i)\b(?:noon|midday|mittags?|midi|mediodía|mezzogiorno|meio-dia|południe|południu)\b|正午|中午|الظهر`)
	// splitPrice is an amount with its hundredths after the currency: "4 euros 90".
	splitPrice = regexp.MustCompile(`(?i)\b(\d+)\s?(€|euros?|dollars?|pounds?|£|\$|zł)\s?(?:and |und |et |y |e |en |i )?(\d{2})\b`)
)

const (
	mornings = `\bmorning|\bmorgens|\bvormittags|\bmatin|\bmañana|\bmattin[ao]|\bmanhã|\bochtends|\brano\b|\bsabah\w*|早上|上午|午前|صباح`
	evenings = `\bafternoon|\bevening|\babends|\bnachmittags|\bsoir|\baprès-midi|\btarde|\bnoche|\bsera\b|\bpomeriggio|\bnoite|\bavonds|\bmiddags|\bwieczorem|\bakşam\w*|下午|晚上|午後|مساء`
)

var (
	morningForm = regexp.MustCompile(`(?i)` + mornings)
	currencies  = []currencyForm{
		newCurrency("EUR", `€|eur\b|euros?\b|欧元|ユーロ|يورو|avro`, `€|eur`),
		newCurrency("USD", `\$|usd\b|dollars?\b|dólar|dollari\b|dolar|美元|ドル|دولار`, `\$|usd`),
		newCurrency("GBP", `£|gbp\b|pounds?\b|pfund\b|libras?\b|sterline\b|英镑|ポンド`, `£|gbp`),
		newCurrency("CHF", `chf\b|fr\.|franken\b|francs?\b|franchi\b`, `chf|fr\.`),
		newCurrency("PLN", `zł|pln\b`, `pln`),
		newCurrency("TRY", `₺|tl\b|lira`, `₺`),
		newCurrency("CNY", `元|人民币|yuan|块`, `cny`),
		newCurrency("JPY", `円|yen\b|日元`, `¥|￥`),
		newCurrency("BRL", `reais\b`, `r\$`),
	}
)

// currencyForm is how a currency is written after an amount and before it.
type currencyForm struct {
	code          string
	after, before *regexp.Regexp
}

func newCurrency(code, after, before string) currencyForm {
	return currencyForm{code, regexp.MustCompile(`(?i)^\s?(?:` + after + `)`), regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + before + `)\s?$`)}
}

// figuresIn reads the figures of a text.
func figuresIn(language, text string) figures {
	var f figures
	for _, found := range contactForm.FindAllString(text, -1) {
		f.contacts = append(f.contacts, strings.ToLower(strings.TrimRight(found, ".,;:!?")))
	}
	f.names = namesIn(language, text)
	f.days = daysIn(language, text)
	text = numeral.InDigits(language, itemForm.ReplaceAllString(contactForm.ReplaceAllString(text, " "), ""))
	text = splitPrice.ReplaceAllString(text, "$1.$3 $2")
	text = f.readTimes(language, text)
	for _, at := range numberForm.FindAllStringIndex(text, -1) {
		readings := readingsOf(text[at[0]:at[1]])
		if currency := currencyAt(text, at); currency != "" {
			f.prices = append(f.prices, price{readings, currency})
			continue
		}
		f.numbers = append(f.numbers, readings)
	}
	return f
}

// readTimes reads the times of day, and answers what is left of the text.
func (f *figures) readTimes(language, text string) string {
	text = halfForm.ReplaceAllStringFunc(text, func(s string) string {
		hour, _ := strconv.Atoi(halfForm.FindStringSubmatch(s)[1])
		if base(language) != "en" { // "halb sieben" is half an hour before, "half seven" after
			hour += 23
		}
		f.times = append(f.times, timeOfDay{minutes: (hour%24)*60 + 30})
		return " "
	})
	text = noonForm.ReplaceAllStringFunc(text, func(string) string {
		f.times = append(f.times, timeOfDay{12 * 60, true})
		return " "
	})
	var rest strings.Builder
	from := 0
	for _, m := range timeForm.FindAllStringSubmatchIndex(text, -1) {
		part := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		if part(3) == "" && part(4)+part(5)+part(1)+part(6) == "" || currencyAt(text, []int{m[4], m[5]}) != "" ||
			strings.ContainsAny(text[m[0]:m[1]], ".") && part(3) != "" && part(4)+part(5)+part(1)+part(6) == "" {
			continue // a bare number, or an amount
		}
		hour, _ := strconv.Atoi(part(2))
		minute, _ := strconv.Atoi(part(3))
		if hour > 24 || minute > 59 {
			continue
		}
		f.times = append(f.times, asTime(hour, minute, part(4), part(1)+part(6)))
		rest.WriteString(text[from:m[0]] + " ")
		from = m[1]
	}
	rest.WriteString(text[from:])
	return rest.String()
}

// asTime is a time of day with what was said of its half of the day.
func asTime(hour, minute int, half, part string) timeOfDay {
	after := strings.HasPrefix(strings.ToLower(half), "p") || part != "" && !morningForm.MatchString(part)
	switch {
	case after && hour < 12:
		hour += 12
	case strings.HasPrefix(strings.ToLower(half), "a") && hour == 12:
		hour = 0
	}
	return timeOfDay{hour*60 + minute, half+part != "" || hour > 12 || hour == 0}
}

// currencyAt is the currency of the amount that stands at a place of a text, by what
// stands beside it: what comes after it counts before what comes before, as in "20 EUR 25 USD".
func currencyAt(text string, at []int) string {
	before := text[:at[0]]
	before = before[max(len(before)-8, 0):]
	for _, c := range currencies {
		if c.after.MatchString(text[at[1]:]) {
			return c.code
		}
	}
	for _, c := range currencies {
		if c.before.MatchString(before) {
			return c.code
		}
	}
	return ""
}

// readingsOf are the numbers that digits with marks between them may stand for, one at
// least: "1.500" is a thousand and five hundred here, and one and a half there.
func readingsOf(written string) []string {
	marks := strings.FieldsFunc(written, func(r rune) bool { return r >= '0' && r <= '9' })
	parts := strings.FieldsFunc(written, func(r rune) bool { return r < '0' || r > '9' })
	if len(marks) == 0 {
		return []string{canonical(written, "")}
	}
	last := parts[len(parts)-1]
	grouped := !slices.ContainsFunc(parts[1:], func(p string) bool { return len(p) != 3 })
	var out []string
	if grouped {
		out = append(out, canonical(strings.Join(parts, ""), ""))
	}
	if marks[len(marks)-1] == "." || marks[len(marks)-1] == "," {
		out = append(out, canonical(strings.Join(parts[:len(parts)-1], ""), last))
	}
	if len(out) == 0 { // digits in groups of their own, as of a telephone number or 5'11
		out = append(out, canonical(strings.Join(parts, ""), ""))
	}
	return out
}

func canonical(whole, fraction string) string {
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// daysIn are the days of the week that a sentence speaks of.
func daysIn(language, sentence string) answer.Days {
	s := answer.ScheduleIn(language, sentence)
	if !s.Told {
		return answer.Days{}
	}
	days := s.On
	for i := range days {
		days[i] = days[i] || s.Off[i]
	}
	return days
}

// addressing are words with a capital inside a sentence that name nobody.
var addressing = wordSet("i|i'm|i'll|i'd|i've|mr|mrs|ms|dr|prof|ai|ok|sie|ihr|ihre|ihnen|ihren|ihrem|ihres|ihrer|du|dir|dein|deine|u|uw|lei|la|suo|sua|usted|ustedes|pan|pani|państwo|państwa|vous|monsieur|madame|señor|señora|signor|signora|herr|frau|bay|bayan|ki|ia|pm|am")

// namesIn are the names in a text of a script that has capitals: words with one inside
// a sentence. Where every noun has a capital, two in a row are a name.
func namesIn(language, text string) []string {
	known := search.Understand(language, text)
	isKnown := func(w term) bool {
		return slices.ContainsFunc(known, func(m search.Meaning) bool { return m.From <= w.from && w.to <= m.To && m.Sure == 1 })
	}
	words := wordsOf(text)
	capital := func(i int) bool {
		first, size := utf8.DecodeRuneInString(text[words[i].from:words[i].to])
		return unicode.IsUpper(first) && words[i].to-words[i].from > size
	}
	isName := func(i int) bool {
		return capital(i) && !addressing[words[i].text] && !isKnown(words[i])
	}
	beside := func(i, j int) bool {
		return j >= 0 && j < len(words) && capital(j) && !isKnown(words[j]) && !addressing[words[j].text] && strings.TrimLeft(text[min(words[i].to, words[j].to):max(words[i].from, words[j].from)], " -'’") == ""
	}
	opens := func(i int) bool {
		return i == 0 || strings.ContainsAny(text[words[i-1].to:words[i].from], ".!?:…\"“„»")
	}
	var names []string
	for i := range words {
		if !isName(i) || opens(i) {
			continue // what opens a sentence has its capital from that
		}
		row := beside(i, i+1) || beside(i, i-1) && !opens(i-1)
		if row || base(language) != "de" {
			names = append(names, words[i].text)
		}
	}
	return names
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
