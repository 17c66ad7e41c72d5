package conversation

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

const (
	// grace is how long words are waited for that were on their way when a time ran out.
	grace = 1500 * time.Millisecond
	// typedLate is how long after that typed words are taken to be on their way still.
	typedLate = 3 * time.Second
	// stall is how much later than it is due a time may be seen to have run out, before nobody knows what
	// was said in it.
	stall = time.Second
	// unheardFor is for how long a client may have been away, at most, when that is noticed.
	unheardFor = 25 * time.Second
	// leastToAsk is how much time is to be left where more is asked for.
	leastToAsk = 5 * time.Second
	// noteWithin bounds a note of how much time is used, which the next one makes good.
	noteWithin = time.Second
	// maxLate is how many late turns are known by their ids.
	maxLate = 20
	// maxKey is how long the key of a question can be.
	maxKey = 40
)

// timing keeps the time of what a subject asks. A clock runs only while the user could answer; what says so is looked
// at after everything that happens (keepTime).
type timing struct {
	// kept is what is known of the questions, but for the time that is used, which used and whole are.
	kept  session.Clocks
	used  map[string]time.Duration
	whole time.Duration
	// put is the key of the question that the user has heard and can answer; empty for none.
	put string
	// runs and runsAll say whether the clocks of that question and of all of them run, since at.
	runs, runsAll bool
	at            time.Time
	// holds says that nobody is taken to be idle.
	holds bool
	// closing is what ran out.
	closing closing
	// away says that the client is not connected.
	away bool
	// told is what the client was told last, but for the time that is left.
	told AnswerTime

	late lateness
	owed []owed
	// closedAt is when each question was closed, by this process.
	closedAt map[string]time.Time
	// settled says that what the process before heard last was said to a question whose time ran out.
	settled bool
}

func newTiming(kept *session.Clocks, now time.Time) *timing {
	if kept.Empty() {
		return nil
	}
	t := &timing{kept: *kept.Clone(), used: map[string]time.Duration{}, at: now, closedAt: map[string]time.Time{}}
	if t.kept.Questions == nil {
		t.kept.Questions = map[string]session.Clock{}
	}
	t.whole = time.Duration(t.kept.UsedMs) * time.Millisecond
	for key, k := range t.kept.Questions {
		if k.UsedMs > 0 {
			t.used[key] = time.Duration(k.UsedMs) * time.Millisecond
		}
	}
	return t
}

func (t *timing) limit(key string) time.Duration { return t.kept.Questions[key].Limit() }

// left is how much time there is for a question; false where it has no limit.
func (t *timing) left(key string) (time.Duration, bool) {
	limit := t.limit(key)
	return max(limit-t.used[key], 0), limit > 0
}

// leftOfAll is how much time there is for all of them; false where there is no limit.
func (t *timing) leftOfAll() (time.Duration, bool) {
	limit := time.Duration(t.kept.DurationS) * time.Second
	return max(limit-t.whole, 0), limit > 0
}

// tick adds the time since the last tick to the clocks that ran.
func (t *timing) tick(now time.Time) {
	past := max(now.Sub(t.at), 0)
	t.at = now
	if t.runs {
		t.used[t.put] += past
	}
	if t.runsAll {
		t.whole += past
	}
}

// clocks is how the time stands now, for the journal; nil where nothing has a limit.
func (c *Conversation) clocks() *session.Clocks {
	t := c.timing
	if t == nil {
		return nil
	}
	kept := t.kept.Clone()
	kept.Open = t.put
	kept.UsedMs = t.whole.Milliseconds()
	if limit := time.Duration(kept.DurationS) * time.Second; limit > 0 {
		kept.UsedMs = min(kept.UsedMs, limit.Milliseconds())
	}
	for key, used := range t.used {
		k := kept.Questions[key]
		if k.UsedMs = used.Milliseconds(); k.LimitS > 0 {
			k.UsedMs = min(k.UsedMs, k.Limit().Milliseconds())
		}
		kept.Questions[key] = k
	}
	return kept
}

// doubt notes that it is not sure what was said to a question in its time, and says whether that is new.
func (t *timing) doubt(key string, d session.Doubt) bool {
	k := t.kept.Questions[key]
	if key == "" || slices.Contains(k.Doubts, d) {
		return false
	}
	k.Doubts = append(k.Doubts, d)
	t.kept.Questions[key] = k
	return true
}

// trust takes a doubt back.
func (t *timing) trust(key string, d session.Doubt) {
	k := t.kept.Questions[key]
	k.Doubts = slices.DeleteFunc(slices.Clone(k.Doubts), func(had session.Doubt) bool { return had == d })
	t.kept.Questions[key] = k
}

// doubtOpen does so of the question that can be answered, if there is one.
func (c *Conversation) doubtOpen(d session.Doubt) {
	if t := c.timing; t != nil && t.doubt(t.put, d) {
		c.noteTime()
	}
}

// came notes what came of a question. Nothing said from now on answers it.
func (t *timing) came(key string, what session.Came) {
	k := t.kept.Questions[key]
	k.Came = what
	t.kept.Questions[key] = k
	if what != session.NeverPut {
		t.closedAt[key] = t.at
	}
	if t.put == key {
		t.put, t.runs = "", false
	}
}

// questionOf is the key of the question of a subject that a goal asks; empty for none.
func questionOf(goal *persona.Goal) string {
	if answerOf(goal) == "" {
		return ""
	}
	return goal.Key
}

// wasPut is called when words that ask a question have been said: from now on it can be answered. What the user missed
// of it, they are to hear again.
func (c *Conversation) wasPut(s *speech) {
	t := c.timing
	if t == nil {
		return
	}
	if s.asks == "" || s.missed || t.away || s.asks != questionOf(c.goals.current()) || !c.goals.asked {
		if s.asks == "" && s.closes { // nothing follows what ran out
			t.freshen(c.now())
		}
		return
	}
	t.tick(c.now())
	t.put, t.runs = s.asks, false
	t.freshen(c.now())
}

// freshen has what the user says from now on count, but for what began before.
func (t *timing) freshen(now time.Time) {
	if t.late.stale {
		t.late.stale, t.late.fresh = false, now.Add(-answersSoon)
	}
}

// beingAsked is the question that the avatar is asking now; empty for none. It can be read before it is heard to its end.
func (c *Conversation) beingAsked() string {
	if c.current == nil || c.current.missed {
		return ""
	}
	return c.current.asks
}

// unask takes back that a question was asked whose words were not heard to their end, so that it is asked again.
func (c *Conversation) unask() {
	if c.timing == nil {
		return
	}
	for _, s := range append(slices.Clone(c.queue), c.current) {
		if s != nil && s.asks != "" {
			s.missed = true
		}
	}
}

// askAgain has a question asked that stands and that the user did not hear.
func (c *Conversation) askAgain() {
	t := c.timing
	key := questionOf(c.goals.current())
	if key == "" || c.finishing || t.put == key && c.goals.asked {
		return
	}
	if slices.ContainsFunc(append(slices.Clone(c.queue), c.current), func(s *speech) bool { return s != nil && s.asks == key && !s.missed }) {
		return
	}
	t.put, t.runs = "", false
	c.goals.asked, c.goals.asks = false, 0
	c.mayAsk = c.mayAsk || c.begun && c.takesPart() && len(c.appointment.offered) == 0
}

// canAnswer says whether the user could answer the question that was put.
func (c *Conversation) canAnswer() bool {
	t := c.timing
	return t.put != "" && t.put == questionOf(c.goals.current()) && c.goals.asked && c.takesPart() &&
		c.current == nil && c.thought == nil && len(c.unanswered) == 0 && (c.ear.speaking || !c.ear.awaits())
}

// takesPart says whether the user could say something to what is asked: they are here and are understood, nobody speaks in
// the avatar's place, nobody is waited for, and nothing else is to be agreed to.
func (c *Conversation) takesPart() bool {
	return c.ready && !c.timing.away && !c.over && !c.waitsForOthers() && c.unconfirmed == nil
}

// waitsForOthers says whether it is not the user's turn to do something.
func (c *Conversation) waitsForOthers() bool { return c.deaf || c.silent() || c.isSet(nobodyComes) }

// begunAll says whether the time of all questions counts: one was put, and one is left.
func (t *timing) begunAll(c *Conversation) bool {
	return !t.kept.Over && !c.goals.questioned() && (t.put != "" || t.whole > 0)
}

// keepTime lets the clocks run or stand still, after something happened.
func (c *Conversation) keepTime() {
	t := c.timing
	if t == nil || c.over {
		return
	}
	t.tick(c.now())
	had := *t
	c.goOnAfterTime()
	c.askAgain()
	t.runs = t.closing == within && c.canAnswer()
	t.runsAll = t.closing != ofAll && c.takesPart() && t.begunAll(c)
	c.clear(answerTime, allTime)
	left, limited := t.left(t.put)
	if t.runs && limited {
		c.set(answerTime, left)
	}
	all, limitedAll := t.leftOfAll()
	if t.runsAll && limitedAll {
		c.set(allTime, all)
	}
	counts := t.runs && limited || t.runsAll && limitedAll
	holds := t.closing != within || t.runs && counts || questionOf(c.goals.current()) != "" && (t.away || c.waitsForOthers())
	if t.holds && !holds {
		c.activeAt = c.now()
	}
	t.holds = holds
	if had.runs != t.runs || had.runsAll != t.runsAll {
		c.noteTime()
	}
	if counts && !c.isSet(notesTime) {
		c.set(notesTime, t.step())
	}
	if !counts {
		c.clear(notesTime)
	}
	c.tellTime()
}

// step is how often it is noted how much time is used: what a process that dies has not noted is given once more.
func (t *timing) step() time.Duration {
	const least, most, share = time.Second, 5 * time.Second, 20
	if limit := t.limit(t.put); t.runs && limit > 0 {
		return min(max(limit/share, least), most)
	}
	return most
}

// noteTime keeps how much time is used. The clocks stand still meanwhile: the user cannot help it.
func (c *Conversation) noteTime() {
	t := c.timing
	t.tick(c.now())
	ctx, cancel := context.WithTimeout(c.ctx, noteWithin)
	defer cancel()
	c.noted("clock", c.config.Journal.Collected(ctx, c.found()))
	t.at = c.now()
}

// handle handles what waits first.
func (c *Conversation) handle() {
	i, ok, spilled := c.mail.take()
	if spilled {
		c.send(Error{Code: "too_many_messages", Message: "messages came faster than they could be handled; some were dropped"})
		c.doubtOpen(session.WordsLost)
	}
	if ok {
		i.do()
	}
}

// present notes that the client is connected, or not any more.
func (c *Conversation) present(yes bool) {
	t := c.timing
	if t == nil {
		return
	}
	t.told = AnswerTime{}
	if t.away == !yes {
		return
	}
	t.tick(c.now())
	if !yes {
		// Nobody knows since when they are away.
		t.doubt(t.put, session.WordsLost)
		for key, at := range t.closedAt {
			if t.at.Sub(at) <= unheardFor {
				t.doubt(key, session.WordsLost)
			}
		}
		c.unask()
	}
	if t.away = !yes; t.away {
		c.noteTime()
	}
}

// leavesTimeFor says whether there is time to ask for more of an answer.
func (c *Conversation) leavesTimeFor(key string) bool {
	if c.timing == nil {
		return true
	}
	c.timing.tick(c.now())
	left, limited := c.timing.left(key)
	return !limited || left >= leastToAsk
}
