package screening

import (
	"math"
	"slices"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
)

// Words is all that the scorer is given: what is asked, and what was said, as text. Nothing of
// who said it, how it sounded or how they looked is in it, nor how long they took.
type Words struct {
	Language  string
	Questions []subject.Question
	// Answers are by the keys of questions.
	Answers map[string]rubric.Answer
}

// Card is what the scorer makes of words.
type Card struct {
	Criteria []Criterion
	// Percent is of the points that were judged; nil where none were.
	Percent *float64
	Band    *string
}

// The bands of a card, from the share of the points in percent.
const (
	strong, good, mixed = 80, 60, 40

	bandStrong  = "strong"
	bandGood    = "good"
	bandMixed   = "mixed"
	bandWeak    = "weak"
	bandUnclear = "unclear"
)

// Bands lists every band, best first.
func Bands() []string { return []string{bandStrong, bandGood, bandMixed, bandWeak, bandUnclear} }

// Score holds answers against the rubrics of the questions.
func Score(w Words) Card { return w.scored(nil) }

// scored is Score, where no score is sure of what nobody knows for sure that it was said in its time.
func (w *Words) scored(clocks *session.Clocks) Card {
	var c Card
	var points, judged, all float64
	in := func(words language.Words) string { return words[w.Language] } // what is said in another cannot be compared
	c.Criteria = []Criterion{}
	for _, q := range w.Questions {
		scores, came := rubric.Timed(rubric.Judge(w.Language, q, w.Answers[q.Key], in), w.Answers[q.Key], clocks, q.Key)
		for _, s := range scores {
			one := Criterion{
				Key: s.Key, Label: s.Label, MaxScore: s.Max, Weight: s.Weight, Confidence: s.Confidence, Evaluation: s.Rationale, Evidence: s.Quotes, Time: came,
			}
			all += s.Max
			if s.Confidence > 0 {
				one.Score = new(s.Score)
				points, judged = points+s.Score, judged+s.Max
			}
			c.Criteria = append(c.Criteria, one)
		}
	}
	if judged > 0 {
		c.Percent = new(math.Round(points/judged*1000) / 10)
		c.Band = new(band(*c.Percent, judged/all))
	}
	return c
}

// band is what a percentage is worth. Where less than half of the points could be judged, nobody
// can tell.
func band(percent, judged float64) string {
	switch {
	case judged < 0.5:
		return bandUnclear
	case percent >= strong:
		return bandStrong
	case percent >= good:
		return bandGood
	case percent >= mixed:
		return bandMixed
	}
	return bandWeak
}

// sure is the confidence from which a choice is taken for what it seems.
const sure = 0.9

// knockouts says which of a role's are met: by the option that was chosen, and nothing else.
func knockouts(w Words, all []role.Knockout, clocks *session.Clocks) []Met {
	found := []Met{}
	for _, k := range all {
		m := Met{Question: k.Question}
		for _, q := range w.Questions {
			if q.Key != k.Question || q.Kind != "choice" || rubric.Doubtful(w.Answers[q.Key], clocks, q.Key) {
				continue
			}
			m.Met = met(w, q, k.Rule)
		}
		found = append(found, m)
	}
	return found
}

// met says whether one of the options was chosen that meet a rule, and none that does not; nil
// where that is not sure.
func met(w Words, q subject.Question, rule role.KnockoutRule) *bool {
	in := func(words language.Words) string { return words[w.Language] }
	q.Points = 1
	any, none := false, false
	for i := range q.Options {
		one := q
		one.Options = slices.Clone(q.Options)
		for j := range one.Options {
			one.Options[j].Correct = i == j
		}
		// As if this option alone were right: whoever named it has a point.
		for _, s := range rubric.Judge(w.Language, one, w.Answers[q.Key], in) {
			if s.Confidence < sure || s.Score < 1 {
				continue
			}
			if slices.Contains(rule.AnyOf, q.Options[i].Key) {
				any = true
			} else {
				none = true
			}
		}
	}
	if any == none {
		return nil
	}
	return new(any)
}
