package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/sessions/conversation"
)

// loss is the stage at which the answer to a question was lost.
type loss string

// The losses of what the handbook answers, in the order of the stages. The last two are of
// what it does not, and of the acts of talk.
const (
	// talked: it was taken for an act of talk, or nothing was understood to look for.
	talked loss = "talked"
	// apart: it was looked for in several parts, of which some were lost.
	apart loss = "apart"
	// unfound: no passage with the facts was found; strange says that none has a word of
	// the question, nor one that means the same.
	strange loss = "strange"
	unfound loss = "unfound"
	// span: the passage was found, but none of its sentences is a good answer.
	span loss = "span"
	// beaten: a good sentence was there, and another one was ranked before it; doubted says
	// that nothing was answered either way.
	beaten  loss = "beaten"
	doubted loss = "doubted"
	// unsure: the best sentence was good, and not likely enough.
	unsure loss = "unsure"
	// said: the best sentence was good and likely, and the answer as a whole was not.
	said loss = "said"
	// claimed: something was answered that the handbook does not say.
	claimed loss = "claimed"
	act     loss = "act"
)

var losses = []loss{talked, apart, strange, unfound, span, doubted, beaten, unsure, said, claimed, act}

// lossOf is the stage at which a question was lost that was not answered well.
func lossOf(o *outcome) loss {
	switch {
	case o.question.Expect == expectUnknown:
		return claimed
	case o.question.Expect != expectKnow:
		return act
	case len(o.traces) == 0:
		return talked
	case len(o.traces) > 1:
		return apart
	}
	t := &o.traces[0]
	well := func(c conversation.TraceCandidate) bool {
		return judge(o.question, answer{c.Said, conversation.ActAnswer}) == good
	}
	at := slices.IndexFunc(t.Candidates, well)
	switch {
	case at == 0 && t.Sure < t.Threshold:
		return unsure
	case at == 0:
		return said
	case at > 0 && t.Sure < t.Threshold:
		return doubted
	case at > 0:
		return beaten
	}
	return lossOfPassage(o.question, t)
}

// lossOfPassage is why no sentence is a good answer.
func lossOfPassage(q *question, t *conversation.Trace) loss {
	shares := false
	for _, c := range t.Candidates {
		if holdsAll(normalize(c.Passage.Heading+"\n"+c.Passage.Text), q.Facts) {
			return span
		}
		shares = shares || c.Features["own"]+c.Features["heading"] > 0.2
	}
	if !shares {
		return strange
	}
	return unfound
}

// lost prints at which stage the questions were lost that were not answered well, by class
// and by the handbook's language.
func lost(w io.Writer, all []outcome, sets []set) {
	languages := map[string]string{}
	for i := range sets {
		languages[sets[i].domain] = sets[i].Language
	}
	table := func(name string, of func(*outcome) string, rows []string) {
		counts := map[string]map[loss]int{}
		for i := range all {
			o := &all[i]
			row := of(o)
			if counts[row] == nil {
				counts[row] = map[loss]int{}
			}
			counts[row][""]++
			if o.verdict != good {
				counts[row][lossOf(o)]++
			}
		}
		if rows == nil {
			rows = slices.Sorted(maps.Keys(counts))
		}
		fmt.Fprintf(w, "%-14s %5s", name, "n")
		for _, l := range losses {
			fmt.Fprintf(w, " %8s", l)
		}
		fmt.Fprintln(w)
		for _, row := range rows {
			fmt.Fprintf(w, "%-14s %5d", row, counts[row][""])
			for _, l := range losses {
				fmt.Fprintf(w, " %8s", strings.TrimPrefix(fmt.Sprint(counts[row][l]), "0"))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
	table("class", func(o *outcome) string { return o.question.Class }, classes)
	table("language", func(o *outcome) string { return languages[o.domain] }, nil)
	table("all", func(*outcome) string { return "" }, nil)
}
