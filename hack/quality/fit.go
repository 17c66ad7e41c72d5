package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"visavis.dev/pkg/sessions/conversation"
)

// How the weights are fit.
const (
	steps = 400
	pace  = 0.1
	// restraint keeps weights small that little speaks for.
	restraint = 0.003
)

// model is what is fit.
type model struct {
	rank, sure []float64
	least      float64
}

// fitRank makes weights by which good answers come first: the likelihood of any of them
// among all sentences of their question, by gradient ascent.
func fitRank(samples []sample) []float64 {
	still := map[int]bool{}
	for n, name := range conversation.Features() {
		still[n] = name == "one" || slices.Contains(conversation.RelativeFeatures(), name)
	}
	return ascend(still, func(w, gradient []float64) {
		used := 0
		for i := range samples {
			s := &samples[i]
			if slices.ContainsFunc(s.candidates, func(c sampled) bool { return c.good }) {
				used++
				s.pull(w, gradient)
			}
		}
		for n := range gradient {
			gradient[n] /= float64(max(1, used))
		}
	})
}

// pull adds a question's gradient: what its good sentences are expected to have beyond
// all of them.
func (s *sample) pull(w, gradient []float64) {
	odds := make([]float64, len(s.candidates))
	for n := range s.candidates {
		odds[n] = s.candidates[n].sum(w)
	}
	highest := slices.Max(odds)
	all, well := 0.0, 0.0
	for n := range s.candidates {
		odds[n] = math.Exp(odds[n] - highest)
		all += odds[n]
		if s.candidates[n].good {
			well += odds[n]
		}
	}
	for n := range s.candidates {
		c := &s.candidates[n]
		pull := -odds[n] / all
		if c.good {
			pull += odds[n] / well
		}
		for _, k := range c.set {
			gradient[k] += pull * c.features[k]
		}
	}
}

// fitSure makes weights by which the best sentence's features tell how likely it is a
// good answer: a logistic regression.
func fitSure(samples []sample, rank []float64) []float64 {
	tops := make([]sampled, len(samples))
	for i := range samples {
		tops[i] = samples[i].best(rank)
	}
	return ascend(nil, func(w, gradient []float64) {
		for _, top := range tops {
			off := -likelihood(dot(w, top.features))
			if top.good {
				off++
			}
			for k, f := range top.features {
				gradient[k] += off * f / float64(len(tops))
			}
		}
	})
}

func likelihood(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// ascend climbs a gradient by Adam, with restraint; weights that are still stay zero.
func ascend(still map[int]bool, climb func(w, gradient []float64)) []float64 {
	size := len(conversation.Features())
	w, mean, square := make([]float64, size), make([]float64, size), make([]float64, size)
	for step := 1; step <= steps; step++ {
		gradient := make([]float64, size)
		climb(w, gradient)
		for n := range w {
			if still[n] {
				continue
			}
			g := gradient[n] - restraint*w[n]
			mean[n] = 0.9*mean[n] + 0.1*g
			square[n] = 0.999*square[n] + 0.001*g*g
			w[n] += pace * (mean[n] / (1 - math.Pow(0.9, float64(step)))) / (math.Sqrt(square[n]/(1-math.Pow(0.999, float64(step)))) + 1e-8)
		}
	}
	return w
}

// scored is a question with how likely its best answer is one, and whether it is.
type scored struct {
	of   *outcome
	sure float64
	good bool
	// gap says that the only good answer is that it is not known.
	gap bool
}

// left asks a model what others were fit for.
func (m *model) left(samples []sample) []scored {
	var out []scored
	for i := range samples {
		top := samples[i].best(m.rank)
		out = append(out, scored{samples[i].of, likelihood(dot(m.sure, top.features)), top.good, samples[i].gap})
	}
	return out
}

func fitModel(samples []sample) model {
	rank := fitRank(samples)
	return model{rank: rank, sure: fitSure(samples, rank)}
}

// crossed are the questions of each domain by a model that is fit on the others.
func crossed(samples []sample) []scored {
	var domains []string
	for _, s := range samples {
		if !slices.Contains(domains, s.domain) {
			domains = append(domains, s.domain)
		}
	}
	out := make([][]scored, len(domains))
	var all sync.WaitGroup
	for n, domain := range domains {
		all.Go(func() {
			in := func(s sample) bool { return s.domain == domain }
			m := fitModel(slices.DeleteFunc(slices.Clone(samples), in))
			out[n] = m.left(slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return !in(s) }))
		})
	}
	all.Wait()
	return slices.Concat(out...)
}

// at is what comes of a question where answers are given from a likelihood on.
func (s scored) at(least float64) verdict {
	switch {
	case s.sure < least && s.gap, s.sure >= least && s.good:
		return good
	case s.sure < least:
		return refused
	default:
		return wrong
	}
}

// counted is what comes of questions where answers are given from a likelihood on.
func counted(all []scored, least float64) (t tally) {
	for _, s := range all {
		t = t.plus(tallyOf(s.at(least)))
	}
	return t
}

// leastFor is the lowest likelihood from which answers are given at which no more than a
// share of all questions is answered wrong.
func leastFor(all []scored, rest tally, wrong float64) float64 {
	for step := range 95 {
		least := float64(step) / 100
		t := rest.plus(counted(all, least))
		if float64(t.wrong) <= wrong*float64(t.good+t.refused+t.wrong) {
			return least
		}
	}
	return 0.95
}

// fit fits the weights on what came of the questions and writes them. The likelihood from
// which answers are given is chosen on models that had not seen the question's domain, of
// some domains, or of all where none are named.
func fit(w io.Writer, path string, all []outcome, wrong float64, domains []string) error {
	var samples []sample
	var rest []*outcome
	for i := range all {
		if s, ok := sampleOf(&all[i]); ok {
			samples = append(samples, s)
		} else {
			rest = append(rest, &all[i])
		}
	}
	m := fitModel(samples)
	honest, seen := crossed(samples), m.left(samples)
	if len(domains) > 0 {
		other := func(o *outcome) bool { return !slices.Contains(domains, o.domain) }
		samples = slices.DeleteFunc(samples, func(s sample) bool { return other(s.of) })
		honest = slices.DeleteFunc(honest, func(s scored) bool { return other(s.of) })
		seen = slices.DeleteFunc(seen, func(s scored) bool { return other(s.of) })
		rest = slices.DeleteFunc(rest, other)
	}
	m.least = leastFor(honest, tallyOfAll(rest), wrong)
	reachable := 0
	for _, s := range samples {
		if slices.ContainsFunc(s.candidates, func(c sampled) bool { return c.good }) {
			reachable++
		}
	}
	fmt.Fprintf(w, "\nfit on %d questions, a good answer is among the sentences of %d; %d others\n", len(samples), reachable, len(rest))
	fmt.Fprintf(w, "%-8s %-23s  %s\n", "least", "leave one domain out", "fit on all")
	apart := tallyOfAll(rest)
	for least := 0.0; least < 0.95; least += 0.05 {
		fmt.Fprintf(w, "%.2f     %s   %s\n", least, apart.plus(counted(honest, least)).shares(), apart.plus(counted(seen, least)).shares())
	}
	fmt.Fprintf(w, "least %.2f    %s\n", m.least, apart.plus(counted(honest, m.least)).shares())
	for _, class := range classes {
		var t tally
		for _, s := range honest {
			if s.of.question.Class == class {
				t = t.plus(tallyOf(s.at(m.least)))
			}
		}
		for _, o := range rest {
			if o.question.Class == class {
				t = t.plus(tallyOf(o.verdict))
			}
		}
		fmt.Fprintf(w, "%-18s %5d  %s\n", class, t.all(), t.shares())
	}
	return os.WriteFile(path, []byte(m.text()), 0o600)
}

func tallyOfAll(all []*outcome) (t tally) {
	for _, o := range all {
		t = t.plus(tallyOf(o.verdict))
	}
	return t
}

// text is the file of the weights.
func (m *model) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, "# Written by hack/quality -fit: what each feature counts. See features.go for what they are.")
	fmt.Fprintf(&b, "least threshold %.2f\n", m.least)
	for n, name := range conversation.Features() {
		if m.rank[n] != 0 {
			fmt.Fprintf(&b, "rank %s %.3f\n", name, m.rank[n])
		}
	}
	for n, name := range conversation.Features() {
		fmt.Fprintf(&b, "sure %s %.3f\n", name, m.sure[n])
	}
	return b.String()
}
