package conversation

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"visavis.dev/pkg/text/answer"
)

// Shares of what holds a word besides the sentence.
const (
	// titleShare is what a word counts that stands in the title or heading only.
	titleShare = 0.6
	// nearShare is what a word counts that stands in the sentence before, and
	// roundShare elsewhere in the passage.
	nearShare = 0.4
	// referShare is that where the sentence begins with a pronoun for what the other is about.
	referShare = 0.85
	roundShare = 0.25
	// leadShare is what a word counts that stands in a heading within the passage.
	leadShare = 0.8
	// strayShare is what a word counts under a heading that is a question for something else.
	strayShare = 0.6
)

// rate sets every sentence's features.
func (i *inquiry) rate(all []candidate, passages []Passage) {
	r := i.rater(all, passages)
	for n := range all {
		var before *candidate
		if n > 0 && all[n-1].passage == all[n].passage {
			before = &all[n-1]
		}
		r.rate(&all[n], before)
	}
	for n := range all {
		all[n].score = fitted.rank.of(&all[n].features)
	}
}

// rater is what rates the sentences of some passages.
type rater struct {
	*inquiry
	passages []Passage
	around   []surroundings // of each passage
	total    float64
	// admission says that nothing is asked about but what it costs to come in.
	admission bool
	// nowhere says of each unit that no passage holds it.
	nowhere []bool
	// closed are the days that a sentence under a heading of opening hours says are closed, in
	// whatever document.
	closed answer.Days
}

// surroundings are what a passage says for all of its sentences.
type surroundings struct {
	title holding
	// titled is how far the title and the heading hold each unit: one of several things holds
	// less of each. rounds is how far the passage does.
	titled, rounds []float64
	// strays says that the heading is a question for something else than what is asked.
	strays bool
	// closed are the days that a sentence says are closed, and exceptions says that another
	// closes some dates.
	closed     answer.Days
	exceptions bool
}

func (i *inquiry) rater(all []candidate, passages []Passage) *rater {
	r := &rater{inquiry: i, passages: passages, around: make([]surroundings, len(passages)), admission: i.ofAdmission(), nowhere: make([]bool, len(i.units))}
	for _, u := range i.units {
		r.total += u.weight
	}
	for n := range passages {
		r.around[n] = r.surround(&passages[n])
	}
	for k := range i.units {
		r.nowhere[k] = !slices.ContainsFunc(r.around, func(a surroundings) bool { return a.titled[k] > 0 })
	}
	for n := range all {
		c := &all[n]
		a := &r.around[c.passage]
		if i.onDay {
			c.schedule = answer.ScheduleIn(c.held.language, c.text)
			closes := c.closes()
			a.closed = a.closed.And(closes)
			if a.title.evidence.OfHours() {
				r.closed = r.closed.And(closes)
			}
			a.exceptions = a.exceptions || c.schedule.Closed && (len(c.schedule.Dates) > 0 || len(c.schedule.Nths) > 0)
		}
		for k := range i.units {
			if a.strays {
				c.had[k] *= strayShare
			}
			a.rounds[k] = max(a.rounds[k], c.had[k])
			r.nowhere[k] = r.nowhere[k] && c.had[k] == 0
		}
	}
	return r
}

// ofPeople says whether a sentence speaks of people by their age.
func (c *candidate) ofPeople() bool {
	for concept := range c.held.evidence.Concepts {
		if answer.OfPeople([]int{concept}) {
			return true
		}
	}
	return false
}

// closes are the days on which a sentence says that it is closed, of what stands before it: one
// that names what is closed may speak of something else, as the café.
func (c *candidate) closes() answer.Days {
	if c.inquires {
		return answer.Days{}
	}
	if n, known := answer.NegationIn(c.held.language, c.text); !known || n.Any() {
		return answer.Days{}
	}
	if !c.ofDaysAlone() {
		return answer.Days{}
	}
	return c.schedule.ClosedOn()
}

// ofDaysAlone says whether a sentence names nothing but days, dates and hours.
func (c *candidate) ofDaysAlone() bool {
	return !slices.ContainsFunc(unitsOf(nil, c.held.language, c.text), func(u wanted) bool {
		return !u.light && !answer.OfDays(u.concepts) && !answer.OfHours(u.concepts) && !u.numeric() && len(answer.DatesIn(c.held.language, strings.Join(u.raw, " "))) == 0
	})
}

// surround is what is known of a passage before its sentences are read.
func (r *rater) surround(p *Passage) surroundings {
	language := cmp.Or(p.Language, r.Language)
	a := surroundings{title: held(language, p.Title+" "+p.Heading), titled: make([]float64, len(r.units)), rounds: make([]float64, len(r.units))}
	share := 0.5 + 0.5*r.asked(a.title.raw, &a.title)
	for k := range r.units {
		a.titled[k] = share * r.units[k].in(&a.title)
	}
	if heading := strings.TrimSpace(p.Heading); inquires(heading) {
		h := held(language, heading)
		a.strays = len(h.raw) > 0 && !slices.ContainsFunc(r.units, func(u wanted) bool { return !u.light && u.in(&h) > 0 })
	}
	return a
}

// rate sets a sentence's features, which follows another one, or nil.
func (r *rater) rate(c, previous *candidate) {
	f := &c.features
	f[one], f[length], f[rank] = 1, math.Log(1+float64(len(c.held.raw))), r.passages[c.passage].Score
	f[leading], f[row], f[opening] = flag(c.passage == 0), flag(c.item), flag(c.place == 0)
	around := &r.around[c.passage]
	matched, titled, heavy := 0.0, 0.0, 0
	besides, weights := 0.0, 0.0
	f[label], f[cellAsked] = r.labeled(c)
	f[counts] = flag(r.kind == answer.Count && r.counted(c))
	r.date(c)
	for k := range r.units {
		u := &r.units[k]
		share := u.weight / r.total
		r.credit(c, k, around)
		if previous != nil && c.refers && previous.place+1 == c.place {
			c.had[k] = max(c.had[k], referShare*previous.had[k])
		}
		held, above, near := c.had[k], around.titled[k], near(previous, k)
		if c.lead != nil {
			near = max(near, leadShare*u.in(c.lead))
		}
		part := max(held, above, near, roundShare*around.rounds[k])
		f[own] += share * held
		f[literal] += share * flag(held == 1)
		f[heading] += share * max(0, above-held)
		f[before] += share * max(0, near-max(held, above))
		f[round] += share * max(0, around.rounds[k]-max(held, above, near))
		covered := max(held, titleShare*above, near, roundShare*around.rounds[k])
		c.cover += share * covered
		if u.besideDay() {
			besides, weights = besides+u.weight*covered, weights+u.weight
		}
		c.turns = c.turns || u.turns && part > valueBroad
		matched, titled = matched+held, titled+above
		r.miss(f, k, share*(1-max(held, above, near)))
		if !u.light {
			heavy++
			f[known] = max(f[known], flag(len(u.concepts) > 0))
			f[topical] = max(f[topical], flag(u.begins(c)))
		}
	}
	c.own, c.beside = f[own], 1
	if weights > 0 {
		c.beside = besides / weights
	}
	f[focus] = matched / max(1, float64(len(c.held.raw)))
	f[headingFocus] = min(1, titled/max(1, float64(len(around.title.raw))))
	f[alone], f[leaning] = flag(heavy <= 1), flag(r.Previous != "" && leans(r.Question))
	f[foreign] = flag(base(c.held.language) != base(r.language))
	r.fit(c)
	c.turns = c.turns || r.onDay && c.days != answer.Unclear
}

// besideDay says whether a unit is of something else than a day and its hours.
func (u *wanted) besideDay() bool {
	return !u.light && !u.dated && !answer.OfDays(u.concepts) && !answer.OfHours(u.concepts) && !answer.OfPartOfDay(u.concepts)
}

// credit counts a unit as held that a sentence holds by what it says of days, ages and prices.
func (r *rater) credit(c *candidate, k int, around *surroundings) {
	u, priced := &r.units[k], c.held.evidence.Money
	means := false
	switch {
	case c.days == answer.Holds && answer.OfDays(u.concepts): // "daily", of Sunday
		means = true
	case u.dated && c.schedule.Dated(r.day) == answer.Named: // the same day by another name
		means = true
	case priced && r.kind == answer.Price && answer.OfPaying(u.concepts): // a price says what is paid
		means = true
	case priced && r.admission && answer.OfTickets(u.concepts): // what people pay for nothing in particular
		means = c.ofPeople() && around.title.evidence.OfPrices()
	}
	ofPeople := answer.OfPeople(u.concepts)
	switch {
	case means, ofPeople && c.age == answer.Holds: // "from 4 to 12 years", of a child of seven
		c.had[k] = max(c.had[k], valueMeans)
	case ofPeople && c.age == answer.Fails && r.kind != answer.Price:
		c.had[k] = max(c.had[k], valueBroad) // the rule for others is one for who is seven, too
	}
}

// miss counts the share of a unit that a sentence and what stands around it lack.
func (r *rater) miss(f *features, unit int, lacking float64) {
	u := &r.units[unit]
	switch {
	case u.light:
		return
	case u.told:
		lacking *= toldShare
	}
	switch {
	case len(u.concepts) > 0 && r.nowhere[unit]:
		f[absentConcept] += lacking
	case len(u.concepts) > 0:
		f[missingConcept] += lacking
	case r.nowhere[unit]:
		f[absentWord] += lacking
	default:
		f[missingWord] += lacking
	}
	f[worst] = max(f[worst], lacking)
}

// fit sets how far a sentence is of the kind that is asked for.
func (r *rater) fit(c *candidate) {
	how := c.held.evidence.Fits(r.kind) - 0.5
	switch r.kind {
	case answer.Define:
		// "A hazard is ...": what is defined stands first.
		how = c.features[topical] - 0.5
	case answer.If:
		how = flag(answer.Conditional(c.held.language, c.text)) - 0.5
	}
	if r.ofPeople() && r.around[c.passage].title.evidence.OfPrices() && c.held.evidence.Money && (c.age == answer.Holds || r.age < 0 && c.ofPeople()) {
		c.features[openThen] = 1 // what they pay for nothing in particular
	}
	c.features[whole] = flag(c.whole)
	c.features[misfit] = flag((r.kind.Firm() && how < 0 || r.kind == answer.When && how == -0.5) && !r.assumed)
	c.features[permits] = flag((r.kind == answer.May || r.kind == answer.YesNo) && answer.Permits(c.held.language, &c.held.evidence, c.text))
	if r.kind.Strict() {
		c.features[fits] = how
	} else {
		c.features[inclined] = how
	}
}

// date sets what a sentence says of the day and the age that are asked about.
func (r *rater) date(c *candidate) {
	f := &c.features
	if r.onDay {
		s := &c.schedule
		// What is closed on the day may be something else, as the café: that sentence tells itself.
		if around := &r.around[c.passage]; c.held.evidence.OfHours() && !around.closed[r.day.Weekday] && !around.exceptions {
			s.CloseOn(around.closed)
			if r.ofHours() {
				s.CloseOn(r.closed)
			}
		}
		c.days, c.told = s.Says(r.day), s.Told && !s.Closed && len(s.Dates) == 0
		f[dayHolds], f[dayFails] = flag(c.days == answer.Holds), flag(c.days == answer.Fails)
		f[dayOther] = flag(s.Told && c.days == answer.Unclear && !c.item)
		holidays := !s.Told && (r.day.Clocked || r.day.Undated) && answer.OfHolidays(&c.held.evidence) // not any day
		f[rowOther] = flag(s.Told && c.days == answer.Unclear && c.item || holidays && len(s.Dates) == 0)
		f[openThen] = flag(c.days != answer.Unclear && r.ofHours() && r.around[c.passage].title.evidence.OfHours() && (c.item || c.ofDaysAlone() || s.Closed && s.Dated(r.day) == answer.Named) &&
			(!r.ofHoliday() || answer.OfHolidays(&c.held.evidence) || s.Dated(r.day) == answer.Named))
		f[timeless] = flag(!s.Told && len(s.Dates) == 0 && len(s.Times) == 0 && !s.Closed)
		dated := s.Dated(r.day)
		f[dateNamed], f[dateWithin], f[dateOther] = flag(dated == answer.Named), flag(dated == answer.Within), flag(dated == answer.Elsewhere)
	}
	if r.age >= 0 {
		r.ages(c)
	}
}

// ages sets what a sentence says of the age that is asked about.
func (r *rater) ages(c *candidate) {
	f := &c.features
	c.aged = r.clause(c)
	c.age = answer.Covers(c.held.language, c.aged, r.age)
	f[ageHolds], f[ageFails] = flag(c.age == answer.Holds), flag(c.age == answer.Fails)
	if r.kind == answer.Price && c.age == answer.Fails {
		f[ageFails], f[rowOther] = 0, 1 // what others pay, where a rule would still be an answer
	}
	if c.age == answer.Unclear && !answer.OfGroup(&c.held.evidence, r.age) {
		f[rowOther] = 1 // of nobody's age
	}
}

// clause is what a sentence says of the age in the clause that holds the most of what is asked
// about: "from 12 on they get a cash card; from 16 on, a debit card".
func (r *rater) clause(c *candidate) string {
	clauses := strings.Split(c.text, ";")
	if len(clauses) < 2 || c.item {
		return c.text
	}
	best, most := c.text, 0.0
	for _, clause := range clauses {
		if answer.Covers(c.held.language, clause, r.age) == answer.Unclear {
			continue
		}
		own, h := 0.0, held(c.held.language, clause)
		for k := range r.units {
			if u := &r.units[k]; !u.light && !answer.OfPeople(u.concepts) {
				own += u.weight * u.in(&h)
			}
		}
		if own > most {
			best, most = clause, own
		}
	}
	return best
}

// ofPeople says whether nothing is asked about but what somebody pays: "what do children pay?".
func (i *inquiry) ofPeople() bool {
	people := i.age >= 0
	for _, u := range i.units {
		switch {
		case answer.OfPeople(u.concepts):
			people = true
		case !u.light && !i.kind.Satisfied(u.concepts):
			return false
		}
	}
	return people && i.kind == answer.Price
}

// ofAdmission says whether nothing is asked about but what it costs to come in.
func (i *inquiry) ofAdmission() bool {
	return i.kind == answer.Price && !slices.ContainsFunc(i.units, func(u wanted) bool {
		return !u.light && !i.kind.Satisfied(u.concepts) && !answer.OfTickets(u.concepts)
	})
}

// ofHoliday says whether a holiday is asked about, which rows of weekdays need not hold for.
func (i *inquiry) ofHoliday() bool {
	return slices.ContainsFunc(i.units, func(u wanted) bool { return answer.OfHoliday(u.concepts) })
}

// ofHours says whether nothing is asked about but when it is open.
func (i *inquiry) ofHours() bool {
	return !slices.ContainsFunc(i.units, func(u wanted) bool {
		return !u.light && !u.dated && !answer.OfHours(u.concepts) && !answer.OfDays(u.concepts)
	})
}

// begins says whether a sentence begins with a unit.
func (u *wanted) begins(c *candidate) bool { return slices.Contains(u.terms, c.topic) }

// near is how far the sentence before holds a unit for the one after it: a question does
// for its answer.
func near(before *candidate, unit int) float64 {
	switch {
	case before == nil:
		return 0
	case before.inquires:
		return before.had[unit]
	default:
		return nearShare * before.had[unit]
	}
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
