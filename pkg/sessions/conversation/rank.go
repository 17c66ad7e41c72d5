package conversation

import (
	"cmp"
	"slices"

	"visavis.dev/pkg/text/answer"
)

// finding is what passages answer to a question.
type finding struct {
	chosen []candidate
	// verdict is whether what is asked is so, where days or ages tell.
	verdict answer.Verdict
	// sure is how likely the answer is one. Where that is too little, nothing is chosen:
	// nearest is then what may still help, and nearby are the topics that come nearest.
	// least is how likely it has to be.
	sure, least float64
	nearest     []candidate
	nearby      []string
	// inquiry is how the question was understood, and ranked every sentence that was
	// looked at, best first: what explain shows.
	inquiry *inquiry
	ranked  []candidate
}

// best are the sentences that answer a question, in the order of the passages, or none
// where none is likely enough to.
func (b retrieval) best(q Question, passages []Passage) finding {
	i, ranked := ranked(q, passages)
	if len(ranked) == 0 {
		return finding{inquiry: i}
	}
	sure := likelihood(fitted.sure.of(&ranked[0].features))
	least := b.least(i.kind, &ranked[0].features)
	if b.Trace != nil {
		b.Trace(i.trace(ranked, passages, sure, least))
	}
	found := finding{nearby: nearby(q, ranked, passages)}
	switch {
	case sure >= least && !ranked[0].features.otherKind():
		found = i.finding(ranked)
	case sure >= mayHelp*b.threshold() && ranked[0].features.absent() < mostAbsent:
		found.nearest = i.finding(ranked).chosen
	}
	found.sure, found.least, found.inquiry, found.ranked = sure, least, i, ranked
	return found
}

// A sentence that is not likely enough to be the answer is offered, as one that may help, where
// it is mayHelp of the threshold at least and the packs know of most of what is asked. On the
// tuning sets every second sentence that is offered to a question they answer holds the facts.
const (
	mayHelp    = 0.4
	mostAbsent = 0.5
)

// ranked are the sentences of passages that may answer a question, the best first.
func ranked(q Question, passages []Passage) (*inquiry, []candidate) {
	i := inquire(q)
	all := candidatesOf(q.Language, passages)
	if len(i.units) == 0 || len(all) == 0 {
		return &i, nil
	}
	if i.kind == answer.List {
		all = append(all, lists(q.Language, passages, all)...)
	}
	i.weigh(all)
	i.rate(all, passages)
	out := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.inquires })
	if i.turning() {
		turned := slices.DeleteFunc(slices.Clone(out), func(c candidate) bool { return !c.turns })
		// One with a pronoun may ask for more of the same in other words.
		if len(turned) == 0 && !points(q) {
			q.Previous = "" // what the question says by itself may be enough
			return ranked(q, passages)
		}
		if len(turned) > 0 {
			out = turned
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	i.lead(out)
	i.leadNamed(out)
	i.leadDay(out)
	i.leadAge(out)
	i.leadHours(out)
	i.leadAfter(out)
	i.leadWhere(out)
	i.leadPeople(out)
	i.leadPrice(out)
	i.leadNumber(out)
	i.compare(out)
	return &i, out
}

// lead puts an exception before the rule: "closed on 14 May", a Thursday, before "Thursdays from
// nine to five", and what is said of holidays before what holds every week.
func (i *inquiry) lead(ranked []candidate) {
	if !i.onDay || !i.ofHours() || len(ranked) == 0 || ranked[0].days != answer.Holds || ranked[0].schedule.Dated(i.day) != answer.Undated {
		return
	}
	at := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.days == answer.Fails && c.schedule.Closed && c.schedule.Dated(i.day) >= answer.Within && c.ofDaysAlone() ||
			i.ofHoliday() && answer.OfHolidays(&c.held.evidence) && c.schedule.Dated(i.day) != answer.Elsewhere && c.own >= leastOwn
	})
	if at > 0 {
		exception := ranked[at]
		exception.score, exception.features = ranked[0].score, ranked[0].features // it answers as surely
		copy(ranked[1:at+1], ranked[:at])
		ranked[0] = exception
	}
}

// leadDay puts the opening hours of the day that is asked about before those of another: "Tuesday
// to Thursday 3 pm – 11 pm", of when it closes on a Wednesday, before "Monday: closed".
func (i *inquiry) leadDay(ranked []candidate) {
	if !i.onDay || i.ofHoliday() || !i.ofHours() || len(ranked) == 0 || ranked[0].days != answer.Unclear || ranked[0].features[rowOther] == 0 {
		return
	}
	at := slices.IndexFunc(ranked, func(c candidate) bool { return c.features[openThen] != 0 && c.passage == ranked[0].passage })
	promote(ranked, at)
	if at > 0 {
		ranked[0].features[rowOther] = 0
	}
}

// promote puts a candidate first that answers as surely as the first does.
func promote(ranked []candidate, at int) {
	if at > 0 {
		ranked[at].score, ranked[at].features = ranked[0].score, ranked[0].features
	}
	bring(ranked, at)
}

// bring puts one of some candidates first.
func bring(ranked []candidate, at int) {
	if at > 0 {
		first := ranked[at]
		copy(ranked[1:at+1], ranked[:at])
		ranked[0] = first
	}
}

// nearAge is how far behind a sentence for the age that is asked about may be, in log-odds.
const nearAge = 1.5

// leadAge puts a sentence for the age that is asked about before one that is for nobody's age, where
// it has the form that is asked for as well: "people over 65 get 20 % off", of somebody of 67.
func (i *inquiry) leadAge(ranked []candidate) {
	if i.age < 0 || len(ranked) == 0 || ranked[0].age != answer.Unclear || ranked[0].features[rowOther] == 0 {
		return
	}
	at := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.age == answer.Holds && c.score >= ranked[0].score-nearAge && c.features[fits] >= ranked[0].features[fits]
	})
	bring(ranked, at)
}

// leadHours puts opening hours before what is only said of them, where nothing is asked about but when it is open: "opens at
// nine and closes at six", of when it closes, before "the last admission is some time before closing".
func (i *inquiry) leadHours(ranked []candidate) {
	if i.kind != answer.When || i.onDay || !i.ofHours() || len(ranked) == 0 || spans(&ranked[0]) {
		return
	}
	at := slices.IndexFunc(ranked, func(c candidate) bool { return c.own >= leastOwn && spans(&c) })
	promote(ranked, at)
}

// spans says whether a sentence has a beginning and an end by the clock.
func spans(c *candidate) bool { return len(answer.ScheduleIn(c.held.language, c.text).Times) > 1 }

// turning says whether the question turns from the one before to something else.
func (i *inquiry) turning() bool {
	return slices.ContainsFunc(i.units, func(u wanted) bool { return u.turns })
}

// finding is the answer that the best sentences give.
func (i *inquiry) finding(ranked []candidate) finding {
	found := finding{chosen: i.exempting(ranked, i.companions(ranked)), verdict: i.verdict(&ranked[0])}
	slices.SortFunc(found.chosen, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.passage, b.passage), cmp.Compare(a.place, b.place))
	})
	return found
}
