package conversation

import (
	"slices"

	"visavis.dev/pkg/text/answer"
)

// nearly is how far behind the best a sentence may be that says what is asked for in so many words, in
// log-odds.
const nearly = 2

// leadAfter puts what follows something before how it is done, where it is asked what happens
// afterwards: "your data stays for 90 days after canceling", before "cancel under Settings".
func (i *inquiry) leadAfter(ranked []candidate) {
	if i.kind != answer.If || !answer.Follows(i.language, i.Text) {
		return
	}
	i.leadNearly(ranked, func(c *candidate) bool { return answer.Follows(c.held.language, c.text) })
}

// leadWhere puts where something may be done before where it may not, of a question for the place that
// does not ask for where it may not be.
func (i *inquiry) leadWhere(ranked []candidate) {
	if i.kind != answer.Where || answer.Forbids(i.language, i.Text) {
		return
	}
	i.leadNearly(ranked, func(c *candidate) bool { return !answer.Forbids(c.held.language, c.text) })
}

// leadNearly brings the best sentence to the front that fits, where the first does not, and this is
// nearly as good.
func (i *inquiry) leadNearly(ranked []candidate, fits func(c *candidate) bool) {
	if len(ranked) == 0 || fits(&ranked[0]) {
		return
	}
	first := &ranked[0]
	at := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.score >= first.score-nearly && c.own >= leastOwn && c.own >= 0.8*first.own && c.passage == first.passage && fits(&c)
	})
	promote(ranked, at)
}

// leadPeople puts a price of admission for the age that is asked about before what something else costs
// those of that age, where it is asked what they pay.
func (i *inquiry) leadPeople(ranked []candidate) {
	if len(ranked) == 0 || i.age < 0 || !i.ofPeople() || ranked[0].features[openThen] != 0 {
		return
	}
	first := &ranked[0]
	at := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.features[openThen] != 0 && c.age == answer.Holds && c.score >= first.score-nearly
	})
	promote(ranked, at)
}

// leadPrice puts what people pay before a sentence without a price, where it is asked what it costs to
// come in.
func (i *inquiry) leadPrice(ranked []candidate) {
	if !i.ofAdmission() || len(ranked) == 0 || ranked[0].held.evidence.Money {
		return
	}
	bring(ranked, slices.IndexFunc(ranked, func(c candidate) bool {
		return c.held.evidence.Money && c.ofPeople() && c.own >= leastOwn
	}))
}

// leadNumber puts the row of a table for the number that is asked about before that for another: "three
// rooms", before "one room".
func (i *inquiry) leadNumber(ranked []candidate) {
	if len(ranked) == 0 || !ranked[0].item || i.onDay || i.age >= 0 {
		return
	}
	asked := answer.Numbered(i.language, i.Text)
	if len(asked) != 1 {
		return
	}
	has := func(c *candidate) bool { return slices.Contains(answer.Numbered(c.held.language, c.text), asked[0]) }
	first := &ranked[0]
	if has(first) {
		return
	}
	at := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.item && c.passage == first.passage && c.score >= first.score-nearly && has(&c)
	})
	promote(ranked, at)
}
