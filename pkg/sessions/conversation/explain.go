package conversation

import (
	"cmp"
	"slices"

	"visavis.dev/pkg/text/lexicon"
)

// Explanation says why a question is answered so. Every method of a nil one does nothing.
type Explanation struct {
	// AnsweredBy is what the answer is of.
	AnsweredBy Answerer
	// Searched is what was looked for, each text of its own search.
	Searched []string
	// Wants is the kind of answer that was understood to be wanted; empty for any.
	Wants string
	// Units are what the question was understood to ask for.
	Units []ExplainedUnit
	// Passages are those that were found, best first.
	Passages []ExplainedPassage
	// Threshold is how sure the best sentence must be to be said, of the built-in engine.
	Threshold float64
	// Candidates are the sentences that were considered, best first, some at most.
	Candidates []ExplainedCandidate
	// Held are the sentences of a model that were not said.
	Held []HeldSentence
	// ModelError is why a model was given up; empty when none was.
	ModelError string
}

// Answerer is what an answer is of.
type Answerer string

// The answerers: the built-in engine, a model, a guardrail, or the talk that needs no knowledge.
const (
	ByBuiltin   Answerer = "builtin"
	ByModel     Answerer = "model"
	ByGuardrail Answerer = "guardrail"
	ByTalk      Answerer = "talk"
)

// ExplainedUnit is one thing that a question asks for.
type ExplainedUnit struct {
	// Words are as they were typed, and Concepts what they mean, by their keys.
	Words, Concepts []string
	// Synonyms are the organization's own words that were taken for the same.
	Synonyms []string
	// Sure is 1 for a word of the lexicon, and less for a part of a compound or a slip.
	Sure float64
	// Weight is what it counts among the others, and Carried that it is of the question before.
	Weight  float64
	Carried bool
}

// ExplainedPassage is a passage that was found.
type ExplainedPassage struct {
	Source
	// Heading is empty for none.
	Heading string
	// LeftOut says why it was not looked at; empty when it was.
	LeftOut string
}

// ExplainedCandidate is a sentence that was considered.
type ExplainedCandidate struct {
	Source
	Text string
	// Score orders the candidates; Sure is the likelihood, 0 to 1, that it answers.
	Score, Sure float64
	Chosen      bool
	// Offered is of one that was not sure enough, and was said as what may help.
	Offered bool
	// LeftOut says why it was not chosen; empty when it was.
	LeftOut string
}

// HeldSentence is a sentence of a model that was not said, and why.
type HeldSentence struct{ Text, Reason string }

// Why something was left out.
const (
	leftLowScore  = "low_score"
	leftUnsure    = "below_threshold"
	leftOtherKind = "other_kind"
	leftWeaker    = "weaker_than_chosen"
	leftBehind    = "weaker_than_best"
	leftQuestion  = "is_a_question"
	maxCandidates = 20
)

func (e *Explanation) answeredBy(who Answerer) {
	if e != nil {
		e.AnsweredBy = who
	}
}

func (e *Explanation) held(sentence, reason string) {
	if e != nil {
		e.Held = append(e.Held, HeldSentence{sentence, reason})
	}
}

func (e *Explanation) gaveUp(err error) {
	if e != nil && err != nil {
		e.ModelError = modelError(err)
	}
}

// searched notes what was looked for, and all that was found by it.
func (e *Explanation) searched(texts []string, found []Passage, least float64) {
	if e == nil {
		return
	}
	for _, text := range texts {
		if !slices.Contains(e.Searched, text) {
			e.Searched = append(e.Searched, text)
		}
	}
	for i := range found {
		p := ExplainedPassage{Source: sourceOf(&found[i]), Heading: found[i].Heading}
		if found[i].Score < least {
			p.LeftOut = leftLowScore
		}
		if !slices.ContainsFunc(e.Passages, func(had ExplainedPassage) bool { return had.ChunkID == p.ChunkID }) {
			e.Passages = append(e.Passages, p)
		}
	}
	slices.SortStableFunc(e.Passages, func(a, b ExplainedPassage) int { return cmp.Compare(b.Score, a.Score) })
}

// rankAnew forgets how a question was understood and what was considered, for another brain
// that answers it.
func (e *Explanation) rankAnew() {
	if e != nil {
		e.Units, e.Candidates = nil, nil
	}
}

// ranked notes how a question was understood and which sentences were considered.
func (e *Explanation) ranked(found finding, passages []Passage, threshold float64) {
	if e == nil {
		return
	}
	e.Threshold = threshold
	e.Wants = string(found.inquiry.kind)
	for i := range found.inquiry.units {
		u := &found.inquiry.units[i]
		shown := ExplainedUnit{Words: u.raw, Sure: u.sure, Weight: u.weight, Carried: u.carried}
		if u.same != nil {
			shown.Synonyms = u.same.words
		}
		for _, c := range u.concepts {
			shown.Concepts = append(shown.Concepts, lexicon.Concepts()[c].Key)
		}
		e.Units = append(e.Units, shown)
	}
	for n := range found.ranked {
		if len(e.Candidates) == maxCandidates {
			break
		}
		c := &found.ranked[n]
		shown := ExplainedCandidate{Source: sourceOf(&passages[c.passage]), Text: c.text, Score: c.score, Sure: likelihood(fitted.sure.of(&c.features))}
		same := func(o candidate) bool { return o.text == c.text && o.passage == c.passage }
		shown.Chosen, shown.Offered = slices.ContainsFunc(found.chosen, same), slices.ContainsFunc(found.nearest, same)
		switch {
		case shown.Chosen:
		case c.inquires:
			shown.LeftOut = leftQuestion
		case shown.Sure < threshold:
			shown.LeftOut = leftUnsure
		case c.features.otherKind():
			shown.LeftOut = leftOtherKind
		case len(found.chosen) == 0: // since the best is not sure enough, or of another kind
			shown.LeftOut = leftBehind
		default:
			shown.LeftOut = leftWeaker
		}
		e.Candidates = append(e.Candidates, shown)
	}
}
