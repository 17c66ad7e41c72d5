package conversation

import (
	"time"
)

// AnswerTime tells how much time there is to answer.
type AnswerTime struct {
	// Question is the key of the question that can be answered, or is being asked; nil for none.
	Question *string `json:"question"`
	// State is how its clock stands.
	State string `json:"state"`
	// LimitS is how long there is, in seconds, and LeftMs what is left of it, in milliseconds; nil for no limit.
	LimitS *int64 `json:"limitS"`
	LeftMs *int64 `json:"leftMs"`
	// All is the time of all questions together; nil for no limit.
	All *AllTime `json:"all"`
}

// Limited says whether a question that has a limit of its own can be answered or is being asked; a nil one has none.
func (a *AnswerTime) Limited() bool { return a != nil && a.Question != nil && a.LimitS != nil }

// AllTime is how much time there is for all questions.
type AllTime struct {
	LimitS  int64 `json:"limitS"`
	LeftMs  int64 `json:"leftMs"`
	Running bool  `json:"running"`
}

// The states of the clock of a question: it runs, it stands still, the time has run out and the last words are waited
// for, and there is no question to answer.
const (
	TimeRunning = "running"
	TimePaused  = "paused"
	TimeUp      = "up"
	TimeClosed  = "closed"
)

// at is the same a while later.
func (a *AnswerTime) after(past time.Duration) *AnswerTime {
	if a == nil || past <= 0 {
		return a
	}
	later := *a
	if a.State == TimeRunning && a.LeftMs != nil {
		later.LeftMs = new(max(*a.LeftMs-past.Milliseconds(), 0))
	}
	if a.All != nil && a.All.Running {
		all := *a.All
		all.LeftMs = max(all.LeftMs-past.Milliseconds(), 0)
		later.All = &all
	}
	return &later
}

func (*AnswerTime) messageType() string { return "answer-time" }

// answerTime is what a client is told now.
func (c *Conversation) answerTime() AnswerTime {
	t := c.timing
	a := AnswerTime{State: TimeClosed}
	key := t.put
	if key == "" {
		key = c.beingAsked()
	}
	if key != "" {
		a.Question = new(key)
		a.State = TimePaused
		if left, limited := t.left(key); limited {
			a.LimitS, a.LeftMs = new(int64(t.limit(key)/time.Second)), new(left.Milliseconds())
		}
		switch {
		case t.closing != within:
			a.State = TimeUp
		case t.runs:
			a.State = TimeRunning
		}
	}
	if left, limited := t.leftOfAll(); limited {
		a.All = &AllTime{LimitS: t.kept.DurationS, LeftMs: left.Milliseconds(), Running: t.runsAll}
	}
	return a
}

// tellTime tells the client where a clock begins to run, or stands still.
func (c *Conversation) tellTime() {
	now, told := c.answerTime(), c.timing.told
	same := now.State == told.State && (now.All == nil) == (told.All == nil) && (now.All == nil || now.All.Running == told.All.Running) &&
		(now.Question == nil) == (told.Question == nil) && (now.Question == nil || *now.Question == *told.Question)
	if same || told.State == "" && now.Question == nil {
		return
	}
	c.timing.told = now
	c.send(&now)
}
