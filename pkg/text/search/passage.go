package search

import (
	"maps"
	"slices"

	"visavis.dev/pkg/base/id"
)

const (
	// headingWeight is what a word of the heading counts more than one of the
	// text: tuned on the tune half of the question set.
	headingWeight = 2
	// mostFrequent is what is counted of a term in a passage: beyond it BM25
	// no longer tells.
	mostFrequent = 63
)

// Text is a passage before analysis. The heading is what stands above it: the
// document's title and the section's.
type Text struct {
	ID            id.Chunk
	Heading, Text string
}

// Analysed is what a document becomes: stored by the index's user, fed to Add.
type Analysed struct {
	Passages []Passage
}

// Passage is one passage's terms, in the order of their text.
type Passage struct {
	ID id.Chunk
	// Length is how many words it has that are no stop words, the heading's
	// among them.
	Length int
	Terms  []Frequency
}

// Frequency is how often a passage has a term; the heading's count more.
type Frequency struct {
	Term  string
	Count uint8
}

// Analyze analyses a document's passages in its language ("" when unknown).
func Analyze(language string, passages []Text) Analysed {
	d := Analysed{Passages: make([]Passage, 0, len(passages))}
	for _, p := range passages {
		counts, length := map[string]int{}, 0
		count := func(text string, weight int) {
			for _, t := range Terms(language, text) {
				counts[t.Text] += weight
				if !t.Stop {
					length++
				}
			}
		}
		count(p.Heading, headingWeight)
		count(p.Text, 1)
		terms := make([]Frequency, 0, len(counts))
		for _, term := range slices.Sorted(maps.Keys(counts)) {
			terms = append(terms, Frequency{term, uint8(min(counts[term], mostFrequent))})
		}
		d.Passages = append(d.Passages, Passage{p.ID, length, terms})
	}
	return d
}
