// Package answer understands what somebody says to an organization's avatar and finds
// what of its documents answers it, without a model: what is said and done that asks
// nothing (talk.go), what kind of answer a question expects (kind.go), which sentences
// of the passages answer it (candidate.go, choose.go), and what follows from days,
// times and ages (calendar.go, age.go). It reads no database and keeps nothing.
//
// What it knows of languages is data: the files under talk, one a language, and the
// concepts of pkg/text/lexicon.
package answer

import (
	"slices"

	"visavis.dev/pkg/text/lexicon"
)

// light says whether concepts say little of what a question is about.
func light(concepts []int) bool {
	all := lexicon.Concepts()
	return !slices.ContainsFunc(concepts, func(c int) bool { return !all[c].Light })
}
