package spoken

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

func fixed(said string) func([]string) string { return func([]string) string { return said } }

func nth(n int) func([]string) string { return func(g []string) string { return g[n] } }

// formatting are the marks that are never read out, in any language: of Markdown, of code,
// of characters that are pictures.
var formatting = []rule{
	{regexp.MustCompile("```[^`]*```"), fixed(" ")},
	{regexp.MustCompile(`!?\[([^\]]*)\]\([^)\s]*\)`), nth(1)},
	{regexp.MustCompile(`(?m)^\s{0,3}(?:#{1,6}|>|[-*+])\s+`), fixed("")},
	{regexp.MustCompile("[*_]{2,3}|~~|`+"), fixed("")},
	{regexp.MustCompile(`\*(\S[^*]*\S|\S)\*`), nth(1)},
	{regexp.MustCompile(`(?:^|\s)_(\S[^_]*\S|\S)_`), func(g []string) string { return " " + g[1] }},
	{regexp.MustCompile(`<[a-zA-Z/!][^>]{0,200}>`), fixed(" ")},
	{regexp.MustCompile(`[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{FE0F}\x{200D}]+`), fixed(" ")},
	{regexp.MustCompile(`[|•·→⇒]`), fixed(", ")},
}

// lexicon is how a language says what stands for words.
type lexicon struct {
	at, dot, dash, slash string
	percent, and, degree string
	oClock               string // between an hour and its minutes; empty to read them one after the other
	whole                string // after an hour without minutes
	// money are a currency's units, for one and for more, by its sign.
	money map[string][2]string
	// cents is what joins the hundredths to the units; the engine reads the number.
	join string
	// units are of measures, by their signs.
	units map[string]string
	// short are abbreviations as they are written, with their full stops.
	short map[string]string
}

var lexicons = map[string]lexicon{
	"en": {
		at: "at", dot: "dot", dash: "dash", slash: "slash", percent: "percent", and: "and", degree: "degrees",
		whole: "o'clock", join: "and",
		money: map[string][2]string{"$": {"dollar", "dollars"}, "€": {"euro", "euros"}, "£": {"pound", "pounds"}, "¥": {"yen", "yen"}},
		units: map[string]string{
			"km": "kilometers", "m": "meters", "cm": "centimeters", "mm": "millimeters", "kg": "kilograms", "g": "grams", "mg": "milligrams",
			"l": "liters", "ml": "milliliters", "km/h": "kilometers per hour", "mph": "miles per hour", "GB": "gigabytes", "MB": "megabytes",
			"kWh": "kilowatt hours", "m²": "square meters", "min": "minutes", "h": "hours", "°C": "degrees Celsius", "°F": "degrees Fahrenheit", "°": "degrees",
		},
		short: map[string]string{
			"e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "approx.": "approximately", "vs.": "versus", "incl.": "including",
			"Dr.": "Doctor", "Mr.": "Mister", "Mrs.": "Missis", "Ms.": "Miz", "Prof.": "Professor", "a.m.": "AM", "p.m.": "PM",
		},
	},
	"de": {
		at: "ät", dot: "Punkt", dash: "Bindestrich", slash: "Schrägstrich", percent: "Prozent", and: "und", degree: "Grad",
		oClock: "Uhr", whole: "Uhr", join: "",
		money: map[string][2]string{"$": {"Dollar", "Dollar"}, "€": {"Euro", "Euro"}, "£": {"Pfund", "Pfund"}, "¥": {"Yen", "Yen"}},
		units: map[string]string{
			"km": "Kilometer", "m": "Meter", "cm": "Zentimeter", "mm": "Millimeter", "kg": "Kilogramm", "g": "Gramm", "mg": "Milligramm",
			"l": "Liter", "ml": "Milliliter", "km/h": "Kilometer pro Stunde", "GB": "Gigabyte", "MB": "Megabyte", "kWh": "Kilowattstunden",
			"m²": "Quadratmeter", "Min.": "Minuten", "Std.": "Stunden", "°C": "Grad Celsius", "°": "Grad",
		},
		short: map[string]string{
			"z. B.": "zum Beispiel", "z.B.": "zum Beispiel", "d. h.": "das heißt", "d.h.": "das heißt", "u. a.": "unter anderem", "u.a.": "unter anderem",
			"usw.": "und so weiter", "bzw.": "beziehungsweise", "ca.": "circa", "inkl.": "inklusive", "Dr.": "Doktor", "Prof.": "Professor",
			"Nr.": "Nummer", "Str.": "Straße", "Tel.": "Telefon", "evtl.": "eventuell", "ggf.": "gegebenenfalls", "zzgl.": "zuzüglich", "max.": "maximal", "min.": "minimal",
		},
	},
	"fr": {
		at: "arobase", dot: "point", dash: "tiret", slash: "barre oblique", percent: "pour cent", and: "et", degree: "degrés",
		oClock: "heures", whole: "heures", join: "",
		money: map[string][2]string{"$": {"dollar", "dollars"}, "€": {"euro", "euros"}, "£": {"livre", "livres"}},
		units: map[string]string{"km": "kilomètres", "m": "mètres", "cm": "centimètres", "kg": "kilogrammes", "g": "grammes", "l": "litres", "km/h": "kilomètres à l'heure", "m²": "mètres carrés", "°C": "degrés Celsius", "°": "degrés"},
		short: map[string]string{"M.": "Monsieur", "Mme": "Madame", "Mlle": "Mademoiselle", "p. ex.": "par exemple", "etc.": "et cetera", "env.": "environ", "n°": "numéro", "Dr": "Docteur"},
	},
	"es": {
		at: "arroba", dot: "punto", dash: "guion", slash: "barra", percent: "por ciento", and: "y", degree: "grados",
		join:  "con",
		money: map[string][2]string{"$": {"dólar", "dólares"}, "€": {"euro", "euros"}, "£": {"libra", "libras"}},
		units: map[string]string{"km": "kilómetros", "m": "metros", "cm": "centímetros", "kg": "kilogramos", "g": "gramos", "l": "litros", "km/h": "kilómetros por hora", "m²": "metros cuadrados", "°C": "grados Celsius", "°": "grados"},
		short: map[string]string{"p. ej.": "por ejemplo", "etc.": "etcétera", "Sr.": "señor", "Sra.": "señora", "Dr.": "doctor", "Dra.": "doctora", "Ud.": "usted", "Uds.": "ustedes", "n.º": "número"},
	},
	"it": {
		at: "chiocciola", dot: "punto", dash: "trattino", slash: "barra", percent: "per cento", and: "e", degree: "gradi",
		oClock: "e", join: "e",
		money: map[string][2]string{"$": {"dollaro", "dollari"}, "€": {"euro", "euro"}, "£": {"sterlina", "sterline"}},
		units: map[string]string{"km": "chilometri", "m": "metri", "cm": "centimetri", "kg": "chili", "g": "grammi", "l": "litri", "km/h": "chilometri orari", "m²": "metri quadrati", "°C": "gradi", "°": "gradi"},
		short: map[string]string{"ad es.": "ad esempio", "p. es.": "per esempio", "ecc.": "eccetera", "Sig.": "signor", "Sig.ra": "signora", "Dott.": "dottor", "n.": "numero"},
	},
}

const numeral = `(\d+(?:[.,]\d{3})*)`

// rulesOf are a language's own rules, made once. A language without a lexicon has those
// for addresses alone, in which the names are read and the marks are not.
var rulesOf = func() func(string) []rule {
	var mu sync.Mutex
	made := map[string][]rule{}
	return func(language string) []rule {
		base, _, _ := strings.Cut(language, "-")
		mu.Lock()
		defer mu.Unlock()
		rules, ok := made[base]
		if !ok {
			l := lexicons[base]
			rules = append(addresses(l), l.rules()...)
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
		{regexp.MustCompile(`\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b`), func(g []string) string { return read(g[0]) }},
		{regexp.MustCompile(`(?i)\b(?:https?://(?:www\.)?|www\.)([\w-]+(?:\.[\w-]+)+)(?:/[^\s,;)]*[\w/]|/)?`), func(g []string) string { return read(g[1]) }},
	}
}

func (l lexicon) rules() []rule {
	var rules []rule
	// The longest first: "Sig.ra" before "Sig.".
	for _, text := range slices.SortedFunc(maps.Keys(l.short), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		said := l.short[text]
		pattern := strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\s?`)
		rules = append(rules, rule{regexp.MustCompile(`(?:^|\b)` + pattern + boundary(text)), fixed(said)})
	}
	if l.percent == "" {
		return rules
	}
	for sign, names := range l.money {
		quoted := regexp.QuoteMeta(sign)
		rules = append(rules,
			rule{regexp.MustCompile(quoted + `\s?` + numeral + `(?:[.,](\d{2}))?\b`), l.amount(names)},
			rule{regexp.MustCompile(`\b` + numeral + `(?:[.,](\d{2}))?\s?` + quoted), l.amount(names)})
	}
	for sign, name := range l.units {
		rules = append(rules, rule{regexp.MustCompile(`(\d)\s?` + regexp.QuoteMeta(sign) + unitEnd(sign)), func(g []string) string { return g[1] + " " + name + g[2] }})
	}
	return append(rules,
		rule{regexp.MustCompile(`\b([01]?\d|2[0-3]):([0-5]\d)\b(?:\s?Uhr\b|\s?o'clock\b)?`), l.time},
		rule{regexp.MustCompile(`(\d)\s?%`), func(g []string) string { return g[1] + " " + l.percent }},
		rule{regexp.MustCompile(`\s&\s`), fixed(" " + l.and + " ")})
}

// boundary is what must follow an abbreviation: one that ends in a letter ends there.
func boundary(text string) string {
	if strings.HasSuffix(text, ".") {
		return ""
	}
	return `\b`
}

// unitEnd is what may follow a unit, for a letter more would make another word of it.
func unitEnd(string) string { return `($|[\s.,;:!?)])` }

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
