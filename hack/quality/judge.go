package main

import (
	"slices"

	"visavis.dev/pkg/sessions/conversation"
)

// verdict is what an answer is worth.
type verdict string

// The verdicts. A refused answer states nothing where something was expected; a wrong
// one states something else.
const (
	good    verdict = "good"
	refused verdict = "refused"
	wrong   verdict = "wrong"
)

// answer is what a persona said to a question, with what it itself states of it.
type answer struct {
	text string
	act  conversation.Act
}

// states says whether an answer states something of what the persona knows. One that
// says nothing at all does not, and is wrong for it.
func (a answer) states() bool {
	switch a.act {
	case conversation.ActUnknown, conversation.ActClarify:
		return false
	}
	return true
}

// judge holds an answer against what is expected. What it does is taken from what the
// engine states, never from its words; facts are looked for in the words.
func judge(q *question, a answer) verdict {
	said := normalize(a.text)
	if said == "" || holdsAny(said, q.Never) {
		return wrong
	}
	switch q.Expect {
	case expectKnow:
		return otherwise(a, a.states() && holdsAll(said, q.Facts))
	case expectUnknown:
		return judgeUnknown(a)
	case expectDisclose:
		return otherwise(a, a.act == conversation.ActDisclosure)
	case expectPerson:
		return otherwise(a, a.act == conversation.ActHandoff || a.states() && len(q.Facts) > 0 && holdsAll(said, q.Facts))
	default:
		return judgeAct(q, a, said)
	}
}

// otherwise is good, or what an answer is that is not.
func otherwise(a answer, well bool) verdict {
	switch {
	case well:
		return good
	case !a.states():
		return refused
	default:
		return wrong
	}
}

// judgeUnknown judges an answer to what the handbook does not say.
func judgeUnknown(a answer) verdict {
	switch a.act {
	case conversation.ActUnknown:
		return good
	case conversation.ActClarify, conversation.ActHandoff, conversation.ActRefusal:
		return refused
	}
	return wrong
}

// judgeAct judges a reply to what asks for no knowledge. With facts, it has one of
// them; without, it is one that states nothing, and does not leave the matter open. To
// ask again fits what nobody understands, not an "okay" to an answer.
func judgeAct(q *question, a answer, said string) verdict {
	if len(q.Facts) > 0 {
		any := slices.ContainsFunc(q.Facts, func(group []fact) bool { return holdsAny(said, group) })
		if !any && a.act != conversation.ActAnswer {
			return refused
		}
		return otherwise(a, any)
	}
	switch a.act {
	case conversation.ActAnswer, "":
		return wrong
	case conversation.ActUnknown:
		return refused
	case conversation.ActClarify:
		if len(q.Ask) > 1 {
			return refused
		}
	}
	return good
}

func holdsAll(said string, groups [][]fact) bool {
	return !slices.ContainsFunc(groups, func(group []fact) bool { return !holdsAny(said, group) })
}

func holdsAny(said string, alternatives []fact) bool {
	return slices.ContainsFunc(alternatives, func(f fact) bool { return holds(said, normalize(string(f))) })
}
