package conversation

import (
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/lexicon"
)

// Trace tells how the built-in brain chose an answer to a question, or none.
type Trace struct {
	Question Question
	// Language is the one that the question was read in, and Kind what kind of answer it
	// expects.
	Language string
	Kind     answer.Kind
	Wanted   []TraceWanted
	// Candidates are the sentences that might answer, the best first.
	Candidates []TraceCandidate
	// Sure is how likely the best answers, and Threshold from where it is given.
	Sure, Threshold float64
}

// TraceWanted is one thing that the question asks for: its words, the keys of the
// concepts that they mean, and what it weighs.
type TraceWanted struct {
	Words    []string
	Concepts []string
	Weight   float64
}

// TraceCandidate is a sentence that might answer.
type TraceCandidate struct {
	Text    string
	Passage Passage
	// Said is what would be answered if it were the best.
	Said     string
	Score    float64
	Features map[string]float64
}

// maxTraced is how many candidates are told of.
const maxTraced = 100

func (i *inquiry) trace(ranked []candidate, passages []Passage, sure, threshold float64) Trace {
	t := Trace{Question: i.Question, Language: i.language, Kind: i.kind, Sure: sure, Threshold: threshold}
	for _, u := range i.units {
		w := TraceWanted{Words: u.raw, Weight: u.weight}
		for _, c := range u.concepts {
			w.Concepts = append(w.Concepts, lexicon.Concepts()[c].Key)
		}
		t.Wanted = append(t.Wanted, w)
	}
	for n := range ranked[:min(len(ranked), maxTraced)] {
		c := &ranked[n]
		found := i.finding(ranked[n:]) // as if it were the best, and better ones not there
		said := ""
		for _, p := range stated(i.Question, found, passages) {
			said = join(said, p.Text)
		}
		features := map[string]float64{}
		for f, value := range c.features {
			features[names[f]] = value
		}
		t.Candidates = append(t.Candidates, TraceCandidate{c.text, passages[c.passage], said, c.score, features})
	}
	return t
}
