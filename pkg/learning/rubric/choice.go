package rubric

import (
	"slices"
	"strings"

	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// How sure it is what was chosen: an option by its own words, all of them or some that no
// other option has; and by what may be anything.
const (
	sureChoice  = 0.95
	someChoices = 0.8
	perhaps     = 0.3
)

// chosen scores the choice of an option: all that are right and none that is wrong.
func chosen(code string, q subject.Question, a Answer, in Text) Score {
	s := Score{Key: q.Key, Label: in(q.Text), Max: q.Points, Weight: 1, Quotes: []string{}}
	if !a.Kept || a.empty() {
		return unjudged(s, a, false)
	}
	picked := choose(code, q.Options, a.Text, in)
	var right, wanted int
	for i, o := range q.Options {
		wanted += one(o.Correct)
		right += one(o.Correct && picked.options[i])
	}
	wrong := len(picked.options) - right
	s.Quotes = append(s.Quotes, a.Text)
	switch {
	case right+wrong == 0:
		s.Confidence, s.Rationale = perhaps, "None of the options was recognized in the answer."
	case wrong > 0 && right > 0:
		s.Confidence, s.Rationale = perhaps, "Options that are right and options that are not were named."
	case wrong > 0:
		s.Confidence, s.Rationale = sureChoice, "An option that is not right was chosen."
	case right < wanted:
		s.Score, s.Confidence, s.Rationale = round(q.Points*float64(right)/float64(wanted)), someChoices, "Not every option that is right was chosen."
	default:
		s.Score, s.Confidence, s.Rationale = q.Points, sureChoice, "The right option was chosen."
	}
	if !picked.sure {
		s.Confidence, s.Rationale = perhaps, s.Rationale+" The words may mean another one."
	}
	return s
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// choice is which options words name, by their places, and whether they surely mean those.
type choice struct {
	options map[int]bool
	sure    bool
}

// choose reads which options are named. Whoever says no more than an option means it; beside
// it nothing may deny, or name what may be another.
func choose(code string, options []subject.Option, said string, in Text) choice {
	picked := choice{options: map[int]bool{}, sure: true}
	words := search.NewPhrase(said)
	rest := slices.Clone(words)
	for i, o := range options {
		option := search.NewPhrase(in(o.Text))
		switch {
		case len(option) == 0:
		case slices.Equal(words, option):
			return choice{map[int]bool{i: true}, true}
		case words.Has(option):
			picked.options[i] = true
			rest = without(rest, option)
			picked.sure = picked.sure && tells(code, in(o.Text), without(words, option))
		case option.Has(words):
			picked.options[i] = true
			picked.sure = picked.sure && alone(code, options, i, said, in)
		}
	}
	n, known := answer.NegationIn(code, strings.Join(rest, " "))
	picked.sure = picked.sure && known && !n.Any() && conversation.Reads(code, said)
	return picked
}

// without are words without those of a phrase that stands among them.
func without(words, phrase search.Phrase) search.Phrase {
	for at := range words {
		if len(words)-at >= len(phrase) && slices.Equal(words[at:at+len(phrase)], phrase) {
			return slices.Concat(words[:at], search.Phrase{"+"}, words[at+len(phrase):])
		}
	}
	return words
}

// tells says whether an option is told by its words: what says nothing by itself, as "yes", "A"
// and "2", only where nothing else is said.
func tells(code, option string, rest search.Phrase) bool {
	return conversation.Says(code, option) > 0 || conversation.Beside(code, nil, strings.Join(rest, " ")) == 0
}

// alone says whether a part of an option names it and no other: it has half of what the
// option says at least, and nothing of what another one does.
func alone(code string, options []subject.Option, at int, said string, in Text) bool {
	if n := conversation.Says(code, said); n == 0 || 2*n < conversation.Says(code, in(options[at].Text)) {
		return false
	}
	for i, o := range options {
		if i != at && conversation.Beside(code, []string{in(o.Text)}, said) < conversation.Says(code, said) {
			return false
		}
	}
	return true
}
