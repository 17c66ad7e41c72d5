package session

import (
	"maps"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
)

// Clocks is how much time there is for the questions of a session, and how much of it is used.
// A session where nothing has a limit has none. It has no words.
type Clocks struct {
	// DurationS is how long all of the questions may take, in seconds; zero for no limit. UsedMs
	// is how much of it is used, in milliseconds.
	DurationS int64 `json:"durationS,omitempty"`
	UsedMs    int64 `json:"usedMs,omitempty"`
	// Over says that it is all used, so that nothing more is asked.
	Over bool `json:"over,omitempty"`
	// Questions are the clocks of the questions that have a limit, or of which something is known,
	// by their keys.
	Questions map[string]Clock `json:"questions,omitempty"`
	// Open is the key of the question that can be answered; empty for none.
	Open string `json:"open,omitempty"`
	// Late are turns of the user's that came too late for a question, and answer no other.
	Late []id.Turn `json:"late,omitempty"`
}

// Clock is the time of one question.
type Clock struct {
	// LimitS is how many seconds there are to answer; zero for no limit. UsedMs is how much of that
	// is used, in milliseconds.
	LimitS int64 `json:"limitS,omitempty"`
	UsedMs int64 `json:"usedMs,omitempty"`
	// Came is what came of the question; empty while nothing did.
	Came Came `json:"came,omitempty"`
	// Doubts are why the answer may not be all that was said, or not in its time; empty for none.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// Came is what came of a question that is asked in a time.
type Came string

// What can come of it: it was answered in time; the time ran out over an answer, which is what was said
// by then; it ran out, and nothing was said; and the time of all questions ran out before.
const (
	InTime    Came = "in_time"
	RanOut    Came = "ran_out"
	NoAnswer  Came = "no_answer"
	NeverPut  Came = "not_asked"
	NotKnown  Came = "unknown"
	noOutcome Came = ""
)

// Doubt is why nobody knows for sure what was answered in the time of a question.
type Doubt string

// The doubts.
const (
	// NotUnderstood: what understands speech failed, or did not answer.
	NotUnderstood Doubt = "not_understood"
	// LateWords: words came after the time and may have been said in it, or were taken for such of the question before.
	LateWords Doubt = "late_words"
	// WordsLost: the connection was lost over it or soon after, or messages came faster than they could be handled.
	WordsLost Doubt = "words_lost"
	// Handed: another process took the conversation over meanwhile.
	Handed Doubt = "taken_over"
	// ByStaff: a team member spoke in the avatar's place meanwhile.
	ByStaff Doubt = "staff"
	// Stalled: the clock was not kept in time.
	Stalled Doubt = "clock_stalled"
	// TooShort: the time of all questions ran out soon after it was asked.
	TooShort Doubt = "too_short"
	// Forbidden: what was said broke a rule of the persona's, so that it was not taken.
	Forbidden Doubt = "refused"
)

// Empty says whether nothing has a limit.
func (c *Clocks) Empty() bool {
	return c == nil || c.DurationS == 0 && !slices.ContainsFunc(slices.Collect(maps.Values(c.Questions)), func(k Clock) bool { return k.LimitS > 0 })
}

// Clone is a copy that shares nothing; nil of nil.
func (c *Clocks) Clone() *Clocks {
	if c == nil {
		return nil
	}
	other := *c
	other.Questions, other.Late = maps.Clone(c.Questions), slices.Clone(c.Late)
	for key, k := range other.Questions {
		k.Doubts = slices.Clone(k.Doubts)
		other.Questions[key] = k
	}
	return &other
}

// Limit is how long there is to answer a question; zero for no limit.
func (k Clock) Limit() time.Duration { return time.Duration(k.LimitS) * time.Second }

// Of is the clock of a question with what came of it, and false where nothing is known that a limit was kept by. A question
// with a limit that was answered while nobody kept its time is NotKnown.
func (c *Clocks) Of(key string, answered bool) (Clock, bool) {
	if c == nil {
		return Clock{}, false
	}
	k, found := c.Questions[key]
	if found && k.Came == noOutcome && k.LimitS > 0 && answered {
		k.Came = NotKnown
	}
	return k, found && (k.Came != noOutcome || len(k.Doubts) > 0)
}
