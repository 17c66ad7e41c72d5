package conversation

import (
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/numeral"
	"visavis.dev/pkg/text/search"
)

// grounds is what the figures of a sentence may rest on.
type grounds struct {
	numbers map[string]bool
	// clocked are numbers of times of day, which are none of anything else but may be said
	// without what shows that they are times.
	clocked map[string]bool
	// amounts are numbers without a currency of texts that speak of prices.
	amounts map[string]bool
	times   []timeOfDay
	// hours are numbers that may be times of day, by what else their sentence says.
	hours    map[int]bool
	prices   map[string][]string // the currencies of an amount
	digits   strings.Builder     // of the text, without what stands between them in a telephone number
	contacts strings.Builder     // all of the text in lower case
	words    map[string]bool
	days     answer.Days
}

func newGrounds() *grounds {
	return &grounds{numbers: map[string]bool{}, clocked: map[string]bool{}, amounts: map[string]bool{}, hours: map[int]bool{}, prices: map[string][]string{}, words: map[string]bool{}}
}

// add takes what a text holds.
func (g *grounds) add(language, text string) {
	priced := held(language, text).evidence.Concepts[conceptOf("price")]
	for _, sentence := range sentencesOf(text) {
		f := figuresIn(language, sentence)
		for _, readings := range f.numbers {
			for _, n := range readings {
				g.amounts[n] = g.amounts[n] || priced
			}
		}
		g.addFigures(&f, len(f.times) > 0 || f.days != (answer.Days{}) || held(language, sentence).evidence.Concepts[conceptOf("hours")])
	}
	for _, w := range wordsOf(text) {
		g.words[search.Fold(text[w.from:w.to])] = true
	}
	g.digits.WriteString("|" + dialed(text))
	g.contacts.WriteString(" " + strings.ToLower(text))
}

// addFigures takes those of a sentence; timed says that a number in it may be an hour.
func (g *grounds) addFigures(f *figures, timed bool) {
	for _, readings := range f.numbers {
		g.count(readings)
		if hour, err := strconv.Atoi(readings[0]); err == nil && hour <= 24 && timed {
			g.hours[hour] = true
		}
	}
	for _, p := range f.prices {
		g.count(p.amounts)
		for _, amount := range p.amounts {
			g.prices[amount] = append(g.prices[amount], p.currency)
		}
	}
	for _, t := range f.times {
		g.times = append(g.times, t)
		hour := t.minutes / 60
		for _, n := range []int{hour, hour % 12, t.minutes % 60} {
			if n > 0 {
				g.clocked[strconv.Itoa(n)] = true
			}
		}
	}
	for day := range f.days {
		g.days[day] = g.days[day] || f.days[day]
	}
}

func (g *grounds) count(readings []string) {
	for _, n := range readings {
		g.numbers[n] = true
	}
}

// dialed are the digits of a text, with those in a row that only blanks and the marks of
// telephone numbers part.
func dialed(text string) string {
	var out strings.Builder
	broken := false
	for _, r := range strings.Map(numeral.ASCIIDigit, text) {
		switch {
		case r >= '0' && r <= '9':
			if broken {
				out.WriteByte('|')
			}
			broken = false
			out.WriteRune(r)
		case !strings.ContainsRune(" -/().+\u00a0", r):
			broken = true
		}
	}
	return out.String()
}

// fewDialed is how many digits a part of a telephone number has that is looked for as such.
const fewDialed = 3

// number says whether a number is held, in any of its readings.
func (g *grounds) number(readings []string) bool {
	for _, n := range readings {
		if g.numbers[n] || g.clocked[n] || len(n) >= fewDialed && !strings.Contains(n, ".") && strings.Contains(g.digits.String(), n) {
			return true
		}
	}
	return false
}

func (g *grounds) time(t timeOfDay) bool {
	for _, held := range g.times {
		if held.minutes == t.minutes || held.minutes%720 == t.minutes%720 && (!held.sure || !t.sure) {
			return true
		}
	}
	// A bare "7" may be one of the morning or the evening.
	hour := t.minutes / 60
	return t.minutes%60 == 0 && (g.hours[hour] || g.hours[hour%12] || hour < 12 && g.hours[hour+12])
}

func (g *grounds) price(p price) bool {
	for _, amount := range p.amounts {
		if currencies := g.prices[amount]; slices.Contains(currencies, p.currency) || len(currencies) == 0 && g.amounts[amount] {
			return true
		}
	}
	return false
}

// name says whether somebody or something of a name is spoken of, in an inflected form too.
func (g *grounds) name(name string) bool {
	name = search.Fold(name)
	if g.words[name] {
		return true
	}
	for word := range g.words {
		short, long := word, name
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) >= 4 && len(long)-len(short) <= 3 && strings.HasPrefix(long, short) {
			return true
		}
	}
	return false
}

// basis of an answer: what a model was given, and what was said.
type basis struct {
	language string
	synonyms *search.Synonyms
	passages []Passage
	// firm is what the passages and the persona's makers say; said is what people said
	// in the conversation, which holds a name or an age, but neither a price nor a time.
	firm, said *grounds
	// own are those of each passage alone, made where they are needed.
	own []*grounds
	// informed are the numbers of the passages that tools answered, which need not be cited.
	informed []int
}

func newBasis(c *Config, q Question, passages []Passage) *basis {
	b := &basis{language: q.Language, synonyms: q.synonyms, passages: slices.Clone(passages), own: make([]*grounds, len(passages)), firm: newGrounds(), said: newGrounds()}
	for i := range passages {
		p := &passages[i]
		b.firm.add(spokenIn(p, q.Language), p.Title+". "+p.Heading+". "+p.Text)
	}
	for _, text := range append([]string{c.PersonaName, q.Brief.Instructions, q.Brief.Context}, q.Brief.Memories...) {
		b.firm.add(q.Language, text)
	}
	if c.Persona.Role != nil {
		b.firm.add(q.Language, *c.Persona.Role)
	}
	b.said.add(q.Language, q.Text)
	for i := range q.History {
		if turn := &q.History[i]; turn.Speaker != session.Avatar {
			b.said.add(q.Language, turn.Text)
		}
	}
	return b
}

func spokenIn(p *Passage, otherwise string) string {
	if p.Language != "" {
		return p.Language
	}
	return otherwise
}

// unfounded names the first figure of a sentence that rests on nothing; empty when all do.
// binding are prices, times of day and addresses, which hold the organization to them.
func (b *basis) unfounded(f *figures) (what string, binding bool) {
	for _, p := range f.prices {
		if !b.firm.price(p) {
			return "price " + strings.Join(p.amounts, " or ") + " " + p.currency, true
		}
	}
	for _, t := range f.times {
		if !b.firm.time(t) {
			return "time " + clockText(t.minutes), true
		}
	}
	for _, contact := range f.contacts {
		if !strings.Contains(b.firm.contacts.String(), strings.TrimPrefix(strings.TrimPrefix(contact, "https://"), "www.")) {
			return "address " + contact, true
		}
	}
	for _, n := range f.numbers {
		if !b.firm.number(n) && !b.said.number(n) {
			return "number " + strings.Join(n, " or "), len(n[0]) > 4 // a telephone number
		}
	}
	for day, named := range f.days {
		if named && !b.firm.days[day] && !b.said.days[day] {
			return "day " + weekdays[day], true
		}
	}
	for _, name := range f.names {
		if !b.firm.name(name) && !b.said.name(name) {
			return "name " + name, false
		}
	}
	return "", false
}

var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

func clockText(minutes int) string {
	return strconv.Itoa(minutes/60) + ":" + strconv.Itoa(100 + minutes%60)[1:]
}

// How much of a sentence a passage must hold for the sentence to rest on it: where it was
// cited and where it was not.
const (
	citedShare   = 0.3
	uncitedShare = 0.6
)

// support is the passage that a sentence with its figures rests on most, -1 for none. Those
// that were cited come first; of a cited one in another language the words cannot be compared.
func (b *basis) support(sentence string, f *figures, cited []int) int {
	units := slices.DeleteFunc(unitsOf(b.synonyms, b.language, sentence), func(u wanted) bool { return len(u.raw) == 1 && isNumber(b.language, u.raw[0]) })
	best, share := -1, 0.0
	for i := range b.passages {
		p := &b.passages[i]
		spoken := spokenIn(p, b.language)
		isCited, foreign := slices.Contains(cited, i+1), base(spoken) != base(b.language)
		if isCited && foreign {
			return i
		}
		least, had := uncitedShare, b.shareOf(units, f, i)
		if isCited {
			had += 1 // before those that were not
			least = 1 + citedShare
		}
		if had >= least && had > share {
			best, share = i, had
		}
	}
	return best
}

func isNumber(language, word string) bool {
	return strings.Trim(numeral.InDigits(language, word), "0123456789 ") == ""
}

// conceptOf is the index of a concept of the lexicon.
func conceptOf(key string) int {
	return slices.IndexFunc(lexicon.Concepts(), func(c lexicon.Concept) bool { return c.Key == key })
}

// shareOf is how much of a sentence a passage holds, 0 to 1.
func (b *basis) shareOf(units []wanted, f *figures, passage int) float64 {
	p := &b.passages[passage]
	spoken, text := spokenIn(p, b.language), p.Title+". "+p.Heading+". "+p.Text
	total, had := 0.0, 0.0
	count := func(weight, share float64) { total, had = total+weight, had+weight*share }
	for holds := held(spoken, text); len(units) > 0; units = units[1:] {
		weight := 1.0
		if units[0].light {
			weight = lightShare
		}
		count(weight, units[0].in(&holds))
	}
	if b.own[passage] == nil {
		b.own[passage] = newGrounds()
		b.own[passage].add(spoken, text)
	}
	own := b.own[passage]
	for _, n := range f.numbers {
		count(1, flag(own.number(n)))
	}
	for _, t := range f.times {
		count(1, flag(own.time(t)))
	}
	for _, amount := range f.prices {
		count(1, flag(own.price(amount)))
	}
	if total == 0 {
		return 0
	}
	return had / total
}

// contradicts says whether a sentence has something take place on a day on which the
// passage that it rests on has it not.
func (b *basis) contradicts(sentence string, f *figures, passage int) bool {
	if f.days == (answer.Days{}) || passage < 0 || !held(b.language, sentence).evidence.Concepts[conceptOf("hours")] {
		return false
	}
	claimed := answer.ScheduleIn(b.language, sentence)
	p := &b.passages[passage]
	for day, named := range f.days {
		asked := answer.Asked{Weekday: day, At: -1, Undated: true}
		if !named || answer.Negated(b.language, sentence, claimed.Says(asked)) != answer.Holds {
			continue
		}
		fails, holds := false, false
		for _, held := range sentencesOf(p.Text) {
			s := answer.ScheduleIn(spokenIn(p, b.language), held)
			switch answer.Negated(spokenIn(p, b.language), held, s.Says(asked)) {
			case answer.Fails:
				fails = true
			case answer.Holds:
				holds = true
			}
		}
		if fails && !holds {
			return true
		}
	}
	return false
}
