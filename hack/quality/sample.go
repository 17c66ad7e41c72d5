package main

import (
	"math"
	"slices"

	"visavis.dev/pkg/sessions/conversation"
)

// sample is a question that the built-in engine looked for an answer to, with what
// speaks for each sentence, and whether it would have been a good answer.
type sample struct {
	of     *outcome
	domain string
	// candidates are in the order in which the engine had them.
	candidates []sampled
	// gap says that the only good answer is that it is not known.
	gap bool
}

type sampled struct {
	features []float64
	// set are the features that are not zero, which are few.
	set     []int
	passage any
	good    bool
}

// sampleOf makes a sample of how a question was answered. There is none where the
// engine did not look, or looked several times.
func sampleOf(o *outcome) (s sample, ok bool) {
	if len(o.traces) != 1 || o.question.Class == "emergency" {
		return s, false // more is said to who is in danger
	}
	s = sample{of: o, domain: o.domain, gap: o.question.Expect == expectUnknown}
	for _, c := range o.traces[0].Candidates {
		one := sampled{passage: c.Passage.Chunk, good: judge(o.question, answer{c.Said, conversation.ActAnswer}) == good}
		for n, name := range conversation.Features() {
			one.features = append(one.features, c.Features[name])
			if c.Features[name] != 0 {
				one.set = append(one.set, n)
			}
		}
		s.candidates = append(s.candidates, one)
	}
	return s, len(s.candidates) > 0
}

// best is the best candidate by weights, with its features as the ranking makes them.
func (s *sample) best(rank []float64) sampled {
	scores := make([]float64, len(s.candidates))
	first := 0
	for n, c := range s.candidates {
		if scores[n] = c.sum(rank); scores[n] > scores[first] {
			first = n
		}
	}
	total, rival := 0.0, math.Inf(-1)
	for n, c := range s.candidates {
		total += math.Exp(scores[n] - scores[first])
		if c.passage != s.candidates[first].passage {
			rival = max(rival, scores[n])
		}
	}
	top := s.candidates[first]
	top.features = slices.Clone(top.features)
	for n, name := range conversation.Features() {
		switch name {
		case "margin":
			top.features[n] = max(-4, min(4, scores[first]-rival))
		case "share":
			top.features[n] = 1 / total
		}
	}
	return top
}

// sum is of its features, each by its weight.
func (c *sampled) sum(w []float64) float64 {
	sum := 0.0
	for _, n := range c.set {
		sum += w[n] * c.features[n]
	}
	return sum
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for n := range a {
		sum += a[n] * b[n]
	}
	return sum
}
