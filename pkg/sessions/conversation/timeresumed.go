package conversation

import (
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// restore takes up what the process before knew.
func (c *Conversation) restoreTime() {
	t := c.timing
	if t == nil {
		return
	}
	for key, k := range t.kept.Questions {
		switch k.Came {
		case session.RanOut, session.NoAnswer, session.NeverPut:
			c.goals.passed[key] = true
		}
	}
	if t.kept.Open != "" {
		t.doubt(t.kept.Open, session.Handed)
	}
	if t.kept.Over {
		t.closing = ofAll
	}
}

// cameLate says whether a turn came too late for a question.
func (c *Conversation) cameLate(turn id.Turn) bool {
	return c.timing != nil && slices.Contains(c.timing.kept.Late, turn)
}

// openByClock is the place of the question that could be answered when the process before noted the time last; -1 for none.
func (c *Conversation) openByClock() int {
	if c.timing == nil || c.timing.kept.Open == "" || c.timing.kept.Questions[c.timing.kept.Open].Came != "" {
		return -1
	}
	// A process of an earlier version notes an answer, and no time.
	return slices.IndexFunc(c.goals.all, func(goal persona.Goal) bool {
		return questionOf(&goal) == c.timing.kept.Open && c.goals.values[answerOf(&goal)] == ""
	})
}

// reopens says whether the question that stood when the conversation was held elsewhere is to be taken up. One whose time
// ran out is not. latest is what was said to it last.
func (c *Conversation) reopens(goal *persona.Goal, latest string) bool {
	t := c.timing
	if t == nil {
		return true
	}
	k := t.kept.Questions[goal.Key]
	switch k.Came {
	case session.RanOut, session.NoAnswer, session.NeverPut:
		t.settled = true
		return false
	}
	if k.Came != "" && (latest == "" || !strings.HasSuffix(c.goals.values[answerOf(goal)], latest)) {
		return false // what was said last is no part of its answer
	}
	if k.Came != "" { // nobody was told that it was taken
		k.Came = ""
		t.kept.Questions[goal.Key] = k
	}
	return true
}
