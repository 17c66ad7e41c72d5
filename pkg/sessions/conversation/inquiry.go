package conversation

import (
	"math"
	"slices"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// inquiry is a question with what is expected of its answer.
type inquiry struct {
	Question
	language string // that it is read in
	kind     answer.Kind
	// assumed says that the kind is the one of the question before, which this one may leave.
	assumed bool
	units   []wanted
	day     answer.Asked
	onDay   bool
	age     int
}

func inquire(q Question) inquiry {
	language := reading(q.Language, q.Text)
	i := inquiry{Question: q, language: language, units: wantedUnits(q), age: ageOf(q, language)}
	i.kind = answer.KindOf(language, q.Text)
	if i.age >= 0 && i.kind == answer.Age {
		i.kind = answer.KindOf(language, answer.WithoutAge(language, q.Text)) // an age is given, not asked for
	}
	if (i.kind == answer.Anything || i.kind == answer.YesNo) && q.Previous != "" && elliptic(q) {
		i.kind, i.assumed = answer.KindOf(reading(q.Language, q.Previous), q.Previous), continues(q)
	}
	i.payAlone()
	if !slices.ContainsFunc(i.units, func(u wanted) bool { return !u.light }) {
		// Nothing is named; the kind may say what is asked, or else the words must.
		said := slices.DeleteFunc(i.units, func(u wanted) bool { return len(u.raw) == 0 || u.carried })
		if i.units = nil; i.kind == answer.Count || i.kind == answer.Define || i.kind == answer.Anything && len(said) == 1 && q.Previous == "" {
			i.units = said
			for n := range i.units {
				i.units[n].light = false
			}
		}
		if about := i.kind.Concept(); about != nil {
			i.units = []wanted{{concepts: about, sure: 1}}
			if i.kind == answer.Where {
				i.kind = answer.Address
			}
		}
	}
	i.admit()
	i.setApart()
	i.day, i.onDay = answer.AskedDay(language, q.Text, q.Now)
	if i.onDay {
		i.nameDate()
		// The calendar speaks for the day; "today" in a text is another day's.
		i.units = besides(i.units, func(u wanted) bool { return answer.OfClock(u.concepts) })
	}
	if i.age >= 0 {
		i.units = besides(i.units, func(u wanted) bool { return answer.OfYears(u.concepts) || u.numeric() })
		i.imply(answer.GroupOf(i.age))
	}
	return i
}

// setApart notes what a question only tells before it asks, in a clause of its own: "I broke my
// leg, do I have to keep paying?".
func (i *inquiry) setApart() {
	asking := map[string]bool{}
	heavy := false
	for _, u := range unitsOf(i.synonyms, i.language, answer.AskingClause(i.language, i.Text)) {
		heavy = heavy || !u.light && !i.kind.Satisfied(u.concepts)
		for _, t := range u.terms {
			asking[t] = true
		}
	}
	for n := range i.units {
		u := &i.units[n]
		u.told = heavy && !u.carried && len(u.terms) > 0 && !slices.ContainsFunc(u.terms, func(t string) bool { return asking[t] })
	}
}

// admit has a question for the price of coming in ask for tickets: "what does it cost to get in?".
func (i *inquiry) admit() {
	if i.kind != answer.Price {
		return
	}
	for n := range i.units {
		if u := &i.units[n]; !u.light && answer.OfEntering(u.concepts) {
			u.concepts = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(u.concepts), conceptOf("ticket")))))
		}
	}
}

// imply has a question with somebody's age ask for those of that age too, as texts call them: a
// person of 67 may be a pensioner.
func (i *inquiry) imply(group []int) {
	for n := range i.units {
		if u := &i.units[n]; !u.light && answer.OfPeople(u.concepts) {
			u.concepts = slices.Compact(slices.Sorted(slices.Values(slices.Concat(u.concepts, group))))
			return
		}
	}
	if len(group) > 0 {
		i.units = append(i.units, wanted{concepts: group, sure: search.SureMisspelled, implied: true})
	}
}

// besides are units without some, where others are left that say something.
func besides(units []wanted, some func(u wanted) bool) []wanted {
	rest := slices.DeleteFunc(slices.Clone(units), some)
	if slices.ContainsFunc(rest, func(u wanted) bool { return !u.light }) {
		return rest
	}
	return units
}

// doubt takes back what words may be misspelled for that the passages have as they are,
// and drops what is left of a foreign text without spaces between what is understood.
func (i *inquiry) doubt(all []candidate) {
	said := map[string]bool{}
	for n := range all {
		for _, word := range all[n].held.raw {
			said[word] = true
		}
	}
	for n := range i.units {
		u := &i.units[n]
		if u.sure == search.SureMisspelled && slices.ContainsFunc(u.raw, func(word string) bool { return said[word] }) {
			u.concepts, u.sure, u.light, u.same = nil, 1, false, nil
		}
	}
	i.units = besides(i.units, func(u wanted) bool {
		return u.implied && !slices.ContainsFunc(all, func(c candidate) bool { return u.in(&c.held) > 0 })
	})
	i.units = besides(i.units, func(u wanted) bool {
		return len(u.concepts) == 0 && len(u.raw) > 0 && isWideText(u.raw[0]) && !slices.ContainsFunc(u.raw, func(word string) bool { return said[word] })
	})
}

// numeric says whether a unit is a number.
func (u *wanted) numeric() bool {
	return slices.ContainsFunc(u.raw, func(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' })
}

// How words are weighed.
const (
	// toldShare is what it counts that a word is missing which was only told before something is asked.
	toldShare = 0.5
	// carriedShare is what a word of the question before counts, where another one turns
	// from it to something else; lightShare what one does that says little.
	carriedShare = 0.5
	lightShare   = 0.25
	// unheardShare is what a word counts that neither the passages nor the lexicon have,
	// and kindShare one that only says what kind of answer is wanted.
	unheardShare = 0.6
	kindShare    = 0.35
)

// fewestHolders is what a unit counts as held that no sentence holds.
const fewestHolders = 0.5

// hold sets how far every sentence holds a unit, the nth, and counts them.
func (u *wanted) hold(n int, all []candidate) (holders float64) {
	holders = fewestHolders
	for k := range all {
		had := u.in(&all[k].held)
		all[k].had = append(all[k].had, had)
		holders += had
		u.literal = u.literal || had == 1 && !all[k].inquires
	}
	for k := range all {
		if had := all[k].had[n]; u.literal && had > 0 && had < 1 {
			all[k].had[n] = u.in(&all[k].held) // another word for it counts less now
		}
	}
	return holders
}

// weigh sets what each unit counts: the rarer among the sentences, the more. One that
// none of them holds counts the most, so that a question about something else is not
// answered by what it has in common with this.
func (i *inquiry) weigh(all []candidate) {
	i.doubt(all)
	foreign := !slices.ContainsFunc(all, func(c candidate) bool { return base(c.held.language) == base(i.language) })
	for n := range i.units {
		u := &i.units[n]
		holders := u.hold(n, all)
		u.weight = math.Log(1 + float64(len(all)+1)/holders)
		switch {
		case u.light:
			u.weight *= lightShare
		case holders == fewestHolders && (len(u.concepts) == 0 || u.sure < 1):
			u.weight *= unheardShare // it may only be said otherwise
			if foreign {
				u.weight *= unheardShare * unheardShare
			}
		}
	}
	i.lessen()
}

// lessen lowers what units count that say little of what the question is about beside others.
func (i *inquiry) lessen() {
	turning := slices.ContainsFunc(i.units, func(u wanted) bool { return u.turns })
	topical := slices.ContainsFunc(i.units, func(u wanted) bool {
		return !u.light && !i.kind.Satisfied(u.concepts) && (i.kind != answer.May || !answer.OfLeave(u.concepts))
	})
	lost := slices.ContainsFunc(i.units, func(u wanted) bool { return answer.OfLoss(u.concepts) })
	for n := range i.units {
		u := &i.units[n]
		if lost && !answer.OfLoss(u.concepts) {
			u.weight *= kindShare // "umbrella", of "I lost my umbrella": the text may only say "lost property"
		}
		if topical && i.kind.Satisfied(u.concepts) && !u.turns {
			u.weight *= kindShare
		}
		if topical && i.kind == answer.May && answer.OfLeave(u.concepts) && !u.turns {
			u.weight *= kindShare // "bring", of "may I bring": the text may only say "dogs are welcome"
		}
		if topical && !u.light && len(u.raw) == 0 {
			u.weight *= kindShare // words of asking, which mean something besides
		}
		if turning && !u.turns {
			u.weight *= carriedShare
		}
	}
}
