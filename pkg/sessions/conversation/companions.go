package conversation

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
)

// How many sentences an answer has.
const (
	maxSentences = 3
	maxAnswer    = 700 // characters, about 50 seconds
	// companion is how far behind the best further sentences may be, in log-odds, and
	// sibling the other items of a list.
	companion = 0.9
	sibling   = 0.6
	// goingOn is how far behind one may be that goes on about the best sentence's matter, where
	// it is asked whether something is so.
	goingOn = 2.5
)

// companions are the best sentence and those that add to it: nearly as good,
// and holding a wanted word that is not said yet or standing right beside.
func (i *inquiry) companions(ranked []candidate) []candidate {
	first := ranked[0]
	chosen := []candidate{first}
	if first.whole {
		return chosen
	}
	length := utf8.RuneCountInString(first.text)
	said := make([]bool, len(i.units))
	adds := func(c *candidate) (news bool) {
		for k := range i.units {
			if i.units[k].in(&c.held) > valuePhrase && !said[k] {
				said[k], news = true, true
			}
		}
		return news
	}
	adds(&first)
	if rows := i.list(ranked); len(rows) > 2 {
		return rows
	}
	for n := range ranked[1:] {
		c := &ranked[1+n]
		if len(chosen) == maxSentences || c.score < first.score-goingOn {
			break
		}
		if !i.accompanies(c, &first) {
			continue
		}
		beside := c.passage == first.passage && (c.place == first.place+1 || c.place == first.place-1)
		letters := utf8.RuneCountInString(c.text)
		if length+letters <= maxAnswer && (adds(c) || beside || n == 0) {
			chosen, length = append(chosen, *c), length+letters
		}
	}
	return chosen
}

// accompanies says whether a sentence may be said with the best one.
func (i *inquiry) accompanies(c, first *candidate) bool {
	switch {
	case c.whole, i.kind.Strict() && c.features[fits] < first.features[fits]:
		return false // it says nothing of the kind that is asked for
	case i.onDay && first.days != answer.Unclear && c.features[rowOther] != 0 && !answer.OfHolidays(&c.held.evidence):
		return false // of another day
	case i.onDay && first.days != answer.Unclear && c.days != answer.Unclear && c.days != first.days:
		return false // of what contradicts each other, one is said
	case c.score >= first.score-companion:
		return true
	}
	return i.decides() && c.refers && c.passage == first.passage && c.place == first.place+1 // "It is not paid out."
}

// list is the best sentence with the items of its list that answer as well: what asks
// for one of them has the others far behind.
func (i *inquiry) list(ranked []candidate) []candidate {
	first := ranked[0]
	if !first.item || i.onDay || i.age >= 0 {
		return nil
	}
	rows := []candidate{first}
	length := utf8.RuneCountInString(first.text)
	for _, c := range ranked[1:] {
		letters := utf8.RuneCountInString(c.text)
		if c.item && !c.whole && c.passage == first.passage && (c.score >= first.score-sibling || i.kind == answer.List && c.own >= first.own) && length+letters <= maxAnswer {
			rows, length = append(rows, c), length+letters
		}
	}
	return rows
}

// maxNearby is how many headings are offered where the answer is not known.
const maxNearby = 3

// nearby are the headings of the passages that come nearest, in the language of the question where there are any.
func nearby(q Question, ranked []candidate, passages []Passage) []string {
	var out, foreign []string
	for _, c := range ranked {
		p := &passages[c.passage]
		heading := strings.TrimSpace(cmp.Or(p.Heading, p.Title))
		if c.cover < 0.15 || len(out) == maxNearby {
			break
		}
		to := &out
		if p.Language != "" && base(p.Language) != base(q.Language) {
			to = &foreign
		}
		if heading != "" && !slices.Contains(*to, heading) && utf8.RuneCountInString(heading) <= topicRunes && len(*to) < maxNearby {
			*to = append(*to, heading)
		}
	}
	if len(out) == 0 {
		return foreign
	}
	return out
}
