package answer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

// Kind is what kind of answer a question expects.
type Kind string

// The kinds, as the sections of the files under talk are named.
const (
	When     Kind = "when"
	Where    Kind = "where"
	Price    Kind = "price"
	Count    Kind = "count"
	Duration Kind = "duration"
	Often    Kind = "often"
	Far      Kind = "far"
	Age      Kind = "age"
	Who      Kind = "who"
	// Whom asks whom to turn to: somebody by name, or a way to reach them.
	Whom    Kind = "whom"
	Why     Kind = "why"
	How     Kind = "how"
	Contact Kind = "contact"
	Mail    Kind = "mail"
	Phone   Kind = "phone"
	Danger  Kind = "danger"
	May     Kind = "may"
	YesNo   Kind = "yesno"
	List    Kind = "list"
	Year    Kind = "year"
	// If asks what follows where something happens: "what if I am late?".
	If Kind = "if"
	// Define asks what something is.
	Define   Kind = "define"
	Address  Kind = "street"
	Anything Kind = ""
)

// kinds are in the order in which they are looked for: the more special first.
var kinds = []Kind{If, Often, Duration, Far, Phone, Contact, Age, Price, When, Where, Whom, Who, Why, Count, List, How, May}

// KindOf is what kind of answer a question expects, read in a language.
func KindOf(language, text string) Kind {
	t := talkOf(language)
	if t == nil {
		t = talkOf("en")
	}
	said := hear(text, t.spellings)
	for _, kind := range kinds {
		if pattern := t.anywhere[string(kind)]; pattern != nil && pattern.MatchString(said.text) {
			return narrower(language, text, kind)
		}
	}
	if pattern := t.begins[string(YesNo)]; pattern != nil && pattern.MatchString(said.text) {
		return YesNo
	}
	if narrower(language, text, Where) == Address {
		return Address
	}
	if (t.wide || t.language == "tr") && t.anywhere[string(YesNo)].MatchString(said.text) {
		return YesNo
	}
	if pattern := t.begins[string(Define)]; pattern != nil && pattern.MatchString(said.text) || t.ends(Define, said) {
		return Define
	}
	return Anything
}

// Conditional says whether a sentence says when something is so, or what else follows: "if you are
// late", "otherwise".
func Conditional(language, sentence string) bool {
	t := talkOf(language)
	return t != nil && t.mentions("condition", hear(sentence, nil))
}

// ends says whether what was said has a pattern of a kind in a language whose words of
// asking stand at the end.
func (t *talk) ends(kind Kind, said spoken) bool {
	pattern := t.anywhere[string(kind)]
	return (t.wide || t.language == "tr") && pattern != nil && pattern.MatchString(said.text)
}

// shortWords is how many words an address is asked for with.
const shortWords = 7

// narrower is the way of contact that a question asks for, where it names one, or the
// year or the street.
func narrower(language, text string, kind Kind) Kind {
	switch {
	case kind == Price && base(language) == "en":
		return ofQuantity(language, text)
	case kind == Duration:
		if e := EvidenceIn(language, text); e.has("hours") && e.has(append(days, "today", "tomorrow", "now")...) {
			return When // "how long are you open today?"
		}
	case kind == Count:
		if e := EvidenceIn(language, text); e.has("deposit") {
			return Price // "wie viel Pfand"
		}
	}
	if kind != Contact && kind != When && kind != Where && kind != Age {
		return kind
	}
	e := EvidenceIn(language, text)
	switch {
	case kind == When && e.has("found_year", "birth") && !e.has(days...), kind == Age && e.has("found_year"):
		return Year
	case kind == Where && e.has("address") && !e.has("email", "website") && len(search.NewPhrase(text)) <= shortWords:
		return Address
	case kind != Contact:
		return kind
	case e.has("email") && !e.has("phone"):
		return Mail
	case e.has("phone") && !e.has("email"):
		return Phone
	}
	return kind
}

// quantityForm is "how much" with the word after it, which is a price's where it is none of a thing.
var (
	quantityForm = regexp.MustCompile(`(?i)\bhow much (\p{L}+)`)
	priceWords   = map[string]bool{"is": true, "are": true, "was": true, "do": true, "does": true, "did": true, "will": true, "would": true, "should": true, "must": true, "can": true, "could": true, "have": true, "for": true, "per": true, "to": true, "it": true, "s": true, "the": true, "a": true, "an": true, "extra": true, "more": true, "less": true, "i": true, "you": true, "we": true, "they": true, "in": true, "if": true, "when": true, "money": true}
)

// ofQuantity is Price, or what else an English "how much" asks for: of time a length, of another
// thing as much as there is of it.
func ofQuantity(language, text string) Kind {
	m := quantityForm.FindStringSubmatch(text)
	if m == nil || priceWords[strings.ToLower(m[1])] {
		return Price
	}
	e := EvidenceIn(language, m[1])
	switch {
	case e.has("price", "pay"):
		return Price
	case e.has("time_light", "duration"):
		return Duration
	}
	return Anything
}

// Strict says whether what answers a question of a kind can be told by its form.
func (k Kind) Strict() bool {
	return slices.Contains([]Kind{When, Price, Count, Duration, Contact, Mail, Phone, Who, Whom, Age, Often, Far, Danger, Year, Address, Define}, k)
}

// Firm says whether what answers a question of a kind has its form for certain.
func (k Kind) Firm() bool {
	return slices.Contains([]Kind{Price, Count, Duration, Contact, Mail, Phone, Year, Address, Far, Age}, k)
}

// Evidence is what a sentence has of what kinds of questions ask for.
type Evidence struct {
	// Number is any numeral; Money an amount or that it costs nothing; Time a time of
	// day; Reach a telephone number or an address of mail or the web; Span a length of time.
	// Mail is an address of mail, and Counted a number that is none of these.
	// Phone is a telephone number.
	Number, Money, Time, Reach, Mail, Phone, Span, Counted bool
	// Named says that it names a person: by a title or by two names in a row. Capitals
	// are words with a capital inside the sentence.
	Named    bool
	Capitals int
	// Street says that it has the address of a building, and Hotline a short number to call.
	Street, Hotline bool
	// Dated says that it names a day of the year or several.
	Dated bool
	// Year says that it names a year, and Far a distance or how long a way takes.
	Year, Far bool
	// Concepts are what its words mean, with what its figures do.
	Concepts map[int]bool
	// Phrases are where several words together mean something: "on the internet".
	Phrases []search.Meaning
}

var (
	moneyForm = regexp.MustCompile(`(?i)(?:[€$£¥₺₹₴]|\b(?:eur|usd|gbp|chf|pln))\s?\d[\d.,]*|\d[\d.,]*\s?(?:[€$£¥₺₹₴]|(?:euros?|eur|usd|gbp|dollars?|pounds?|zł|pln|zlot\p{L}+|złot\p{L}+|lira\p{L}*|tl|yen|francs?|franken|rappen|chf|cents?|centów|pence|kč|kr|reais|pesos|rupees|ريال\p{L}*|دينار\p{L}*|جنيه\p{L}*)(?:$|[^\p{L}]))|\d[\d.,]*\s?(?:円|元|块|欧元|ユーロ|يورو|درهم|دولار|ليرة)|[一二三四五六七八九十百千万两〇零]\s?(?:円|元|块|欧元|ユーロ)`)
	timeForm  = regexp.MustCompile(`(?i)\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2}\s?(?:a\.?m|p\.?m)\b|\b\d{1,2}\s?(?:uhr|h|heures|godz|o'clock|uur)\b|\d{1,2}\s?[時点點]|[午上下]\S{0,2}\d|\bsaat \d|الساعة|\bnoon\b|\bmidnight\b`)
	spanForm  = regexp.MustCompile(`(?i)(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half an?|an?|ein|eine|zwei|drei|une?|deux|trois|uno?|una|dos|tres|due|tre|um|uma|dois|een|twee|drie)\b)[\s-]*(?:\w+\s)?(?:min|minut\w*|hours?|stunden?|heures?|horas?|ore?|uur|uren|godzin\w*|saat|days?|tage?n?|jours?|d[ií]as?|giorn\w+|dagen|dni|gün|weeks?|wochen?|semaines?|semanas?|settiman\w+|weken|tygodni\w*|hafta|months?|monate?n?|mois|mes(?:es)?|mes[ei]|maanden?|miesi\w+|ay|years?|jahre?n?|ans?|años?|ann[oi]|anos?|jaar|lat|yıl|nights?|nächte|nuits?|noches?|notti|noites?)\b|\d\s?(?:分|小时|時間|天|日|周|週|个月|か月|年|晚|泊|دقيقة|ساعة|أيام|يوم|أسبوع|شهر|سنة)`)
	nameForm  = regexp.MustCompile(`\p{Lu}\p{Ll}+ (?:\p{Lu}\. |v[ao]n |de |da |di |la )?\p{Lu}\p{Ll}+`)
	titleForm = regexp.MustCompile(`\b(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herrn?|Mme|M|Sra?|Dra|Dott|Sig|Dhr|Mevr|Pan|Pani)\b\.? \p{Lu}|さん|先生|医生|女士|先生|博士|الدكتور|السيد`)
	dateForm  = regexp.MustCompile(`\b(?:1[5-9]|20)\d\d\b|\b\d{1,2}\.\s?\d{1,2}\.`)
	phoneForm = regexp.MustCompile(`\+?\(?\d[\d\s()/\-]{6,}\d`)
	reachForm = regexp.MustCompile(`\S+@\S+\.\S+|\+?\(?\d[\d\s()/\-]{6,}\d|https?://|\bwww\.`)
)

// streetForm is the address of a building, as each language writes it.
var streetForm = regexp.MustCompile(strings.Join([]string{
	`\b\d{1,5}[A-Za-z]? (?:\p{Lu}[\p{L}'’-]+ ){1,3}(?:Street|St|Road|Rd|Lane|Avenue|Ave|Row|Square|Way|Drive|Place|Quay|Terrace|Close|Court|Crescent|Boulevard|Blvd|Hill|Walk|Wharf|Parade|Gardens|Highway|Pike)\b`,
	`\p{Lu}[\p{L}-]*(?:straße|strasse|str\.|weg|platz|gasse|allee|ufer|ring|damm|markt|steig|straat|laan|plein|gracht|kade|dijk|singel|steeg)\s\d{1,4}\b`,
	`\b(?:Am|An der|Zum|Zur|Auf dem|Im) \p{Lu}[\p{L}-]+ \d{1,4}\b`,
	`(?i)\b\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|quai|chemin|allée|impasse|route|cours) (?:de |du |des |la |le |l['’])*\p{L}+`,
	`(?i)\b(?:rue|calle|avenida|avda\.|plaza|paseo|camino|ronda|carretera|via|viale|piazza|corso|largo|vicolo|rua|praça|travessa|estrada|alameda|ul\.|ulica|al\.|aleja|plac|pl\.)\s[\p{L}\s.'’-]{2,40},?\s(?:n\.?[ºo°]\s?)?\d{1,4}\b`,
	`\p{L}+ (?:Caddesi|Cad\.|Sokak|Sokağı|Sk\.|Bulvarı|Mahallesi|Mah\.)`,
	`\p{Han}{1,8}(?:路|街|大道|巷)\d+号|\d丁目|番地|\d号`,
	`شارع \p{L}+`,
	`\p{Lu}[\p{L}'’-]+ (?:Street|St|Road|Rd|Lane|Avenue|Ave|Square|Way|Drive|Place|Terrace|Boulevard) \d{1,5}\b`,
}, "|"))

// Streets are what streets are called in a language, which an address is found by.
func Streets(language string) string {
	if words := streets[base(language)]; words != "" {
		return words
	}
	return streets["en"]
}

var streets = map[string]string{
	"en": "street road lane avenue square row way drive place quay terrace boulevard",
	"de": "Straße Platz Weg Gasse Allee Ufer Ring Markt Steig", "fr": "rue avenue boulevard place quai chemin allée impasse",
	"es": "calle avenida plaza paseo camino ronda carretera", "it": "via viale piazza corso largo vicolo", "pt": "rua avenida praça travessa estrada alameda",
	"nl": "straat laan plein gracht kade dijk weg", "pl": "ulica ul aleja plac", "tr": "caddesi sokak bulvarı mahallesi cadde",
	"zh": "路 街 大道 号 地址", "ja": "丁目 番地 住所 通り", "ar": "شارع طريق ميدان",
}

// hotlineForm is a short number that is called in danger: three digits, or two as in France.
var (
	hotlineForm = regexp.MustCompile(`\b(?:000|1\d\d|9\d\d|15|17|18)\b`)
	// longNumber is a number of several groups, of which none is one to call: "116 117".
	longNumber = regexp.MustCompile(`\d+(?:[ /-]\d{2,})+`)
)

// offForm is a share that is taken off a price.
var offForm = regexp.MustCompile(`(?i)\d\s?%\s?(?:off|less|cheaper|weniger|günstiger|billiger|nachlass|de (?:moins|réduction|remise|descuento|desconto|sconto)|menos|di (?:sconto|meno)|(?:de )?korting|goedkoper|taniej|zniżki|indirim)|%\d+ indirim|\d折|\d+%(?:引き|オフ|优惠)|خصم \d`)

// oneForm is a one that was in words, which may be an article.
var oneForm = regexp.MustCompile(`\b1\b`)

var (
	centuryForm = regexp.MustCompile(`(?:^|[^\d.,])(?:1\d|20)\d\d(?:$|[^\d,%€$£])`)
	farForm     = regexp.MustCompile(`(?i)\d\s?(?:m|km|meters?|metres?|metern?|mètres?|metros?|metri|kil[oó]m\p{L}+|miles?|yards?|feet|ft|metrów|metre|米|公里|メートル|キロ|分|متر|كيلومتر)(?:[^\p{L}²]|$)`)
)

// reaches says whether a character stands in every telephone number, address of mail or
// of a page: those of sentences without are not looked for.
func reaches(r rune) bool { return unicode.IsDigit(r) || r == '@' || r == '/' || r == '.' }

// saysTime says whether a sentence may name a time without a digit.
func saysTime(sentence string) bool {
	lower := strings.ToLower(sentence)
	return strings.Contains(lower, "noon") || strings.Contains(lower, "midnight") || strings.Contains(lower, "الساعة")
}

// locate says where and when a sentence is: what is looked for only where it may be, as
// long texts are read sentence by sentence.
func (e *Evidence) locate(sentence string, seen *features) {
	if e.Street = (e.Number || strings.ContainsAny(sentence, "شC")) && seen.mayHaveStreet(sentence) && streetForm.MatchString(sentence); e.Street {
		e.Concepts[byKey()["address"]] = true
	}
	e.Hotline = e.Number && hotlineForm.MatchString(longNumber.ReplaceAllString(sentence, " "))
	e.Year = e.Number && centuryForm.MatchString(sentence)
	e.Far = e.Number && farForm.MatchString(sentence) || e.Span && e.has("way", "hike", "go_light", "car_own", "transport") || onFoot(sentence)
}

// onFoot says whether a sentence speaks of a way that is walked.
func onFoot(sentence string) bool {
	lower := strings.ToLower(sentence)
	return slices.ContainsFunc(walks, func(word string) bool { return strings.Contains(lower, word) })
}

var walks = []string{"walk", "zu fuß", "gehminuten", "à pied", " a pie", "a piedi", "a pé", "lopen", "pieszo", "piechotą", "yürüme", "步行", "徒歩", "سيرا"}

// saysAmount says whether a sentence has an amount of money, in figures or in Chinese numerals.
func saysAmount(sentence string, figures bool) bool {
	return (figures || strings.ContainsAny(sentence, "円元块ユ")) && moneyForm.MatchString(sentence)
}

// hourForm are hours as they are written without a unit: "dalle 15 alle 20".
var hourForm = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)\bat \d{1,2}(?:$|[.,;!?)](?:$|\D)|\s(?:on|in the|every|each)\b)`),
	"it": regexp.MustCompile(`(?i)\b(?:dalle|alle|entro le|dopo le|prima delle|ore)\s(?:ore )?\d{1,2}(?:$|[.,;:!?)](?:$|\D)|\s(?:alle|e|di|del|della|in|ogni)\b)`),
	"es": regexp.MustCompile(`(?i)\b(?:a|de|desde|hasta|antes de) las\s\d{1,2}(?:$|[.,;:!?)](?:$|\D)|\s(?:a|y|de|en|hasta|todos)\b)`),
	"pt": regexp.MustCompile(`(?i)(?:^|\s)(?:às|das|antes das|depois das)\s\d{1,2}(?:$|[.,;:!?)](?:$|\D)|\s(?:às|e|da|do|em|até|de)(?:$|\s))`),
	"pl": regexp.MustCompile(`(?i)\b(?:godz\.?|godzin\p{L}*)\s\d{1,2}\b|\bo \d{1,2}(?:$|[.,;!?)](?:$|\D))`),
}

// saysHour says whether a sentence has an hour without a unit.
func saysHour(language, figures string, digits bool) bool {
	form := hourForm[base(language)]
	return digits && form != nil && form.MatchString(figures)
}

// saysLength says whether a sentence has a length of time, with a number where it may have one so.
func saysLength(sentence, figures string, may bool) bool {
	return may && spanForm.MatchString(figures) || holdsAny(strings.ToLower(sentence), lengths)
}

// lengths are lengths of time that are said without a number.
var lengths = []string{
	"un'ora", "un’ora", "mezz'ora", "mezz’ora", "mezza giornata", "tydzień", "pół godziny", "pół roku", "półtor", "anderthalb", "halbe stunde", "halbes jahr", "viertelstunde", "fortnight", "half an hour", "quarter of an hour",
	"kwartier", "half uur", "half jaar", "anderhalf", "demi-heure", "demi-journée", "media hora", "medio día", "meia hora", "meio dia", "yarım saat", "yarım gün",
	"两小时", "两个小时", "半小时", "半个小时", "两天", "两周", "两个月", "三个月", "三天", "一周", "一个月", "半天", "半日", "ساعتان", "ساعتين", "يومان", "يومين", "أسبوعان", "أسبوعين", "نصف ساعة", "شهرين",
}

// withoutAmounts is a sentence in which 4.90 euros are not taken for a time of day.
func withoutAmounts(sentence string, money bool) string {
	if !money {
		return sentence
	}
	return moneyForm.ReplaceAllString(sentence, " ")
}

// EvidenceIn is what a sentence in a language has.
func EvidenceIn(language, sentence string) Evidence {
	e := Evidence{Concepts: map[int]bool{}}
	for _, m := range search.Meanings(language, sentence) {
		for _, c := range m.Concepts {
			e.Concepts[c] = true
		}
		if strings.Contains(sentence[m.From:m.To], " ") {
			e.Phrases = append(e.Phrases, m)
		}
	}
	keys := byKey()
	e.Number = strings.ContainsFunc(sentence, unicode.IsDigit)
	seen := featuresOf(sentence)
	figures := figured(language, sentence)
	digits := strings.ContainsFunc(figures, unicode.IsDigit)
	money := saysAmount(figures, digits)
	e.Money = money || e.Concepts[keys["free"]]
	e.Reach = strings.ContainsFunc(sentence, reaches) && reachForm.MatchString(sentence)
	e.Mail = strings.Contains(sentence, "@")
	e.Time = (digits || saysTime(sentence)) && timeForm.MatchString(withoutAmounts(figures, money)) || saysHour(language, figures, digits)
	e.count(sentence, figures, money)
	e.Span = saysLength(sentence, figures, seen.mayHaveSpan(digits))
	if e.Money {
		e.Concepts[keys["price"]] = true
	}
	e.takeOff(sentence)
	if e.Time && slices.ContainsFunc(days, func(key string) bool { return e.Concepts[keys[key]] }) {
		e.Concepts[keys["hours"]] = true
	}
	if e.Reach {
		e.Concepts[keys["contact"]] = true
		if e.Phone = phoneForm.MatchString(sentence); e.Phone {
			e.Concepts[keys["phone"]] = true
		}
	}
	if e.Mail {
		e.Concepts[keys["email"]] = true
	}
	e.locate(sentence, &seen)
	e.Dated = e.Number && len(DatesIn(language, sentence)) > 0
	e.Named = seen.mayHaveTitle() && titleForm.MatchString(sentence)
	for _, at := range nameForm.FindAllStringIndex(sentence, -1) {
		e.Named = e.Named || at[0] > 0 || base(language) != "de"
	}
	for i, word := range strings.Fields(sentence) {
		if first := []rune(strings.TrimLeft(word, "(\"'„“«"))[:1]; i > 0 && len(first) > 0 && unicode.IsUpper(first[0]) {
			e.Capitals++
		}
	}
	return e
}

// count says whether a sentence has a number that is none of another kind, in figures or in words.
func (e *Evidence) count(sentence, figures string, money bool) {
	if !e.Number {
		sentence = oneForm.ReplaceAllString(figures, " ") // "fourteen people"
	}
	e.Counted = strings.ContainsFunc(sentence, unicode.IsDigit) && counts(sentence, money, e.Time, e.Reach)
}

// takeOff marks a share that is taken off a price as a discount: "20 % off".
func (e *Evidence) takeOff(sentence string) {
	if e.Number && offForm.MatchString(sentence) {
		e.Concepts[byKey()["discount"]] = true
	}
}

// days are the concepts of days, Monday first, and of several days.
var days = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "daily", "weekday", "weekend"}

// byKey are the concepts' numbers.
var byKey = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for i, c := range lexicon.Concepts() {
		out[c.Key] = i
	}
	return out
})

// has says whether a sentence has one of some concepts.
func (e *Evidence) has(keys ...string) bool {
	all := byKey()
	return slices.ContainsFunc(keys, func(key string) bool {
		c, ok := all[key]
		return ok && e.Concepts[c]
	})
}

// OfHours says whether a sentence speaks of when something is open.
func (e *Evidence) OfHours() bool { return e.has("hours") }

// OfPrices says whether a sentence speaks of prices.
func (e *Evidence) OfPrices() bool { return e.has("price") }

// Fits says how far a sentence is of the kind that a question expects: 1 where it is,
// 0 where it is not, and a half where that cannot be told.
func (e *Evidence) Fits(kind Kind) float64 {
	yes := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	switch kind {
	case When:
		switch {
		case e.Time, e.Dated, e.has(append(days, "month", "deadline")...):
			return 1
		case e.Span && e.has("hours"): // half an hour before closing
			return 1
		case e.has("hours", "morning", "noon", "evening", "night", "summer", "winter", "holiday", "closed"):
			return 0.75 // no time or day: "the first hour after opening"
		case e.Span:
			return 0.4
		case e.has("time_light"): // "from the third day on"
			return 0.25
		}
		return 0
	case Price:
		return yes(e.Money)
	case Count:
		return yes(e.Counted || e.has("number_word"))
	case Age:
		return yes(e.Counted || e.Year || e.has("number_word"))
	case Duration:
		switch {
		case e.Span && e.has("duration"):
			return 1
		case e.Span:
			return 0.75
		}
		return yes(e.has("hours") && (e.Time || e.has("number_word"))) * 0.5 // open until seven
	case Year:
		return yes(e.Year)
	case Address:
		return yes(e.Street)
	case Often:
		return yes(e.Number || e.has("daily", "week", "month", "year", "weekday"))
	case Far:
		return yes(e.Far)
	case Contact:
		return yes(e.Reach)
	case Mail:
		return yes(e.Mail)
	case Phone:
		return yes(e.Phone)
	case Danger:
		return e.Alarms(nil)
	case Where:
		if e.Street || e.has("place_word", "address", "floor", "way") {
			return 1
		}
		return yes(e.Capitals >= 2) * 0.7
	case Who:
		if e.Named {
			return 1
		}
		return yes(e.has("leader", "doctor", "staff")) * 0.5
	case Whom:
		if e.Named || e.Reach {
			return 1
		}
		return yes(e.has("leader", "doctor", "staff")) * 0.5
	case Why:
		if e.has("reason") {
			return 1
		}
		return 0.4
	default:
		return 0.5
	}
}

// Alarms says how far a sentence tells whom to call in danger, under a heading or none: 1
// for a number to call anywhere, less for one of the organization's own.
func (e *Evidence) Alarms(heading *Evidence) float64 {
	alarming := e.has("emergency", "danger_call") || heading != nil && heading.has("emergency", "danger_call")
	switch {
	case e.Hotline && alarming:
		return 1
	case e.Reach && !e.Mail && alarming:
		return 0.75
	case e.Hotline && e.has("contact", "phone"):
		return 0.5
	}
	return 0
}

// Satisfied are the concepts that an answer of a kind has by being of that kind: they say
// little of what the question is about.
func (k Kind) Satisfied(concepts []int) bool {
	keys := byKey()
	for _, key := range map[Kind][]string{
		Price: {"price", "pay"}, When: {"hours", "today", "now"}, Contact: {"contact"}, Mail: {"contact", "email", "address"}, Phone: {"contact", "phone"}, Duration: {"duration", "hours"}, Where: {"address", "way"}, Address: {"address", "way"}, Year: {"year"},
		Age: {"age", "year"}, Who: {"teach_word"}, Whom: {"contact"}, May: {"allowed", "forbidden"},
	}[k] {
		if slices.Contains(concepts, keys[key]) {
			return true
		}
	}
	return false
}

// Concept is what a question of a kind is about that names nothing: "where are you?".
func (k Kind) Concept() []int {
	key, ok := map[Kind]string{
		Where: "address", Address: "address", When: "hours", Price: "price", Contact: "contact", Phone: "phone", Mail: "email", Who: "leader",
	}[k]
	if !ok {
		return nil
	}
	return []int{byKey()[key]}
}
