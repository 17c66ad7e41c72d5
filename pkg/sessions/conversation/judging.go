package conversation

import "strings"

// The modes of Persona.knowledge; what each lets a model say is written at
// persona.Knowledge.
const (
	strict = "strict"
	prefer = "prefer"
)

// judgment is what becomes of a sentence that a model wrote.
type judgment struct {
	// held is why it is not said; empty when it is.
	held    string
	sources []Source
	// grounded is nil for what states nothing.
	grounded *bool
}

// maxTelling is how many words tell what a tool did.
const maxTelling = 14

// Why a sentence is held back; what does not rest on anything is named after the first.
const (
	heldUnfounded    = "unsupported"
	heldContradicts  = "contradicts_passage"
	heldHuman        = "claims_to_be_human"
	heldInstructions = "shows_instructions"
)

// judge decides whether a sentence is said, by the knowledge mode.
func (a *generation) judge(words string, cited []int) judgment {
	if strings.Contains(words, "<source") || strings.Contains(words, "</source") || strings.Contains(words, "[[") {
		return judgment{held: heldInstructions}
	}
	mode := a.brain.Persona.Knowledge.Mode
	f := figuresIn(a.question.Language, words)
	what, binding := a.basis.unfounded(&f)
	if what != "" && (mode == strict || mode == prefer && binding) {
		return judgment{held: heldUnfounded + ": " + what}
	}
	if a.free || what == "" && (asksBack(words) || isCourtesy(a.question.Language, words)) {
		return judgment{}
	}
	rests := a.basis.support(words, &f, append(cited, a.basis.informed...))
	sources := a.sources(cited)
	contradicts := a.basis.contradicts(words, &f, rests)
	switch {
	case contradicts && (mode == strict || mode == prefer):
		return judgment{held: heldContradicts}
	case rests >= 0 && what == "" && !contradicts:
		if len(sources) == 0 && rests < len(a.passages) {
			sources = []Source{sourceOf(&a.passages[rests])}
		}
		return judgment{sources: sources, grounded: new(true)}
	case a.tellings > 0 && what == "" && !contradicts && len(cited) == 0 && len(strings.Fields(words)) <= maxTelling:
		a.tellings--
		return judgment{}
	case mode == strict, mode == prefer && len(sources) > 0:
		return judgment{held: heldUnfounded}
	default:
		return judgment{grounded: new(false)}
	}
}
