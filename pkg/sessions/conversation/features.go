package conversation

import (
	"slices"

	"visavis.dev/pkg/text/answer"
)

// feature is something that speaks for a sentence as an answer, or against it.
type feature int

// The features. Shares are of a question's words, each by what it weighs.
const (
	// one is 1 of every sentence.
	one feature = iota
	// own is the share that the sentence holds itself; heading, before and round what is
	// held besides by the heading, by the sentence before, and by the passage.
	own
	// literal is the share that it holds word for word, or in another form.
	literal
	heading
	before
	round
	// absentWord is the share of words that no passage has, nor the lexicon: most likely
	// something else is asked for. missingWord and missingConcept are the shares of words
	// without and with a meaning that neither the sentence nor what stands around it has;
	// worst is the heaviest of them. absentConcept is the share of words with a meaning that
	// no passage has.
	absentWord
	absentConcept
	missingWord
	missingConcept
	worst
	// fits is how far the sentence is of the kind that is asked for, where its form
	// tells, and inclined where it only hints at it; from -0.5 to 0.5.
	fits
	inclined
	// rank is the passage's score, and leading of the best passage.
	rank
	leading
	// topical is of a sentence that begins with what is asked about.
	topical
	// focus is the share of the sentence's own words that were asked about, and
	// headingFocus that of the heading's; length is the logarithm of how many it has.
	focus
	headingFocus
	length
	// row is of an item of a list or a table, and opening of the first sentence of a
	// passage. label is how far what stands before a colon is what was asked about, and
	// cell that a cell of a table is.
	row
	opening
	label
	cellAsked
	// counts says that a number stands beside what is counted.
	counts
	// whole is of all the items of a list, for a question that asks for them.
	whole
	// misfit is of a sentence without the form that an answer has for certain: no amount
	// where a price is asked for. Permits says that it allows or forbids, where that is
	// asked.
	misfit
	permits
	// dayHolds, dayFails and dayOther say of the day that is asked about that it is one
	// of the sentence's, that the sentence excludes it, and that it speaks of others.
	// rowOther is of a row of a table that is of another day: it answers nothing.
	dayHolds
	dayFails
	dayOther
	rowOther
	// dateNamed, dateWithin and dateOther say that it names the date that is asked about,
	// a span of days with it, and only other ones.
	dateNamed
	dateWithin
	dateOther
	ageHolds
	ageFails
	// openThen is of one that has the day under a heading of opening hours, where nothing else is
	// asked about but whether it is open.
	openThen
	// timeless is of a sentence that tells neither a day nor a time, where a day is asked about.
	timeless
	// known says that some of the question means something, alone that it names one thing
	// only, leaning that it is understood from the one before, and foreign that the
	// passage is in another language.
	known
	alone
	leaning
	foreign
	// margin is how much better the sentence is than the best of another passage, and
	// share how likely it is the best of all.
	margin
	share
	featureCount
)

// features are what speaks for a sentence, by feature.
type features [featureCount]float64

// otherKind says that a sentence cannot be what was asked for: no amount is in it where a
// price is asked for.
func (f *features) otherKind() bool { return f[misfit] != 0 }

// A sentence that has the form that is asked for, no near rival, and lacks nothing heavy that is
// asked about, answers more often than its features by themselves say: nine of ten such that were
// between exactShare of the threshold and the whole of it did, on the tuning and visitors' sets.
const (
	exactShare   = 0.7
	alonest      = 2   // log-odds
	mostOfOneOut = 0.3 // of the question, in one word
)

// leastShare is what of the threshold a sentence needs to be said, for a question of a kind: the whole
// of it where it is of another day or age, or names somebody, which any two capitals may seem to.
func (f *features) leastShare(kind answer.Kind) float64 {
	switch {
	case kind == answer.Who, kind == answer.Whom, f[dayOther] != 0, f[rowOther] != 0, f[dateOther] != 0, f[ageFails] != 0:
		return 1
	}
	if f[fits] == 0.5 && f[margin] >= alonest && f[worst] <= mostOfOneOut {
		return exactShare
	}
	return 1
}

// absent is the share of a question's words that no passage has, nor what means the same.
func (f *features) absent() float64 { return f[absentWord] + f[absentConcept] }

// names are the features' in the file of the weights.
var names = [featureCount]string{
	"one", "own", "literal", "heading", "before", "round", "absentWord", "absentConcept", "missingWord", "missingConcept", "worst", "fits", "inclined", "rank", "leading",
	"topical", "focus", "headingFocus", "length", "row", "opening", "label", "cellAsked", "counts", "whole", "misfit", "permits", "dayHolds", "dayFails", "dayOther", "rowOther", "dateNamed", "dateWithin", "dateOther", "ageHolds", "ageFails", "openThen", "timeless", "known", "alone",
	"leaning", "foreign", "margin", "share",
}

// Features are the names of the features of a [TraceCandidate], in the order of the
// file of the weights.
func Features() []string { return slices.Clone(names[:]) }

// RelativeFeatures are those that the ranking itself makes, for [Trace.Sure] alone.
func RelativeFeatures() []string { return []string{names[margin], names[share]} }
