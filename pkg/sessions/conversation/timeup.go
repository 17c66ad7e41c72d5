package conversation

import (
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
)

// closing is what time has run out, while the last words are waited for.
type closing int

const (
	within closing = iota
	ofOne
	ofAll
)

// goOnAfterTime goes on with what follows a time that ran out, where that could not be said.
func (c *Conversation) goOnAfterTime() {
	t := c.timing
	says := slices.ContainsFunc(append(slices.Clone(c.queue), c.current), func(s *speech) bool { return s != nil && s.closes })
	switch {
	case says || t.closing != within || c.silent():
	case t.kept.Over:
		c.afterTime(ofAll)
	case t.late.stale && questionOf(c.goals.current()) == "":
		t.freshen(c.now())
	case c.ready && c.current == nil && c.thought == nil && len(c.queue)+len(c.unanswered) == 0 && !c.ear.busy():
		c.goOnToEnd()
	}
}

// timeRanOut is called when the time of a question, or of all of them, has run out. What the user is saying or has
// written by now is waited for.
func (c *Conversation) timeRanOut(of closing) {
	t := c.timing
	t.tick(c.now())
	limit, all := t.limit(t.put), time.Duration(t.kept.DurationS)*time.Second
	if t.runs && limit > 0 && t.used[t.put] > limit+stall || t.runsAll && all > 0 && t.whole > all+stall {
		t.doubt(t.put, session.Stalled)
	}
	if t.closing < of {
		t.closing = of
	}
	t.runs = false
	if of == ofAll {
		t.kept.Over = true
		if key := c.beingAsked(); key != "" && t.put == "" && (len(c.unanswered) > 0 || c.ear.busy()) {
			t.put = key // the user answers already
		}
		c.unask()
		c.hush(true)
	}
	if !c.isSet(graceEnds) {
		c.set(graceEnds, grace)
	}
	c.noteTime()
}

// closeQuestion takes what was said of an answer whose time has run out, and goes on.
func (c *Conversation) closeQuestion() {
	c.drain()
	t := c.timing
	of := t.closing
	if c.over || c.finishing || of == within {
		return
	}
	t.closing = within
	c.clear(graceEnds)
	key := t.put
	if !c.cutEar(key) {
		return
	}
	text := strings.Join(c.unanswered, " ")
	c.unanswered = nil
	var rule *guardrail
	if key != "" && key == questionOf(c.goals.current()) {
		if of == ofAll && t.used[key] < leastToAsk {
			t.doubt(key, session.TooShort)
		}
		if rule = c.takeAnswer(text, session.RanOut); c.over {
			return
		}
	}
	t.late.stale, t.late.closedAt = true, c.now()
	if of == ofAll {
		c.neverPut()
	}
	c.noted("goal", c.config.Journal.Collected(c.ctx, c.found()))
	if c.over || rule != nil && c.forbidLate(rule) {
		return
	}
	c.afterTime(of)
}

// drain handles what has come and waits to be handled.
func (c *Conversation) drain() {
	for range c.mail.waiting() {
		if c.over {
			return
		}
		c.handle()
	}
}

// cutEar ends an utterance under way, and takes what was understood of it. false says that the conversation is over.
func (c *Conversation) cutEar(key string) bool {
	t := c.timing
	t.late = lateness{key: key}
	if !c.ear.busy() {
		return true
	}
	heard := c.ear
	c.ear = ear{}
	c.clear(utteranceEnds, turnTooLong, bargesIn)
	if heard.speaking && len(heard.stretches) > 0 {
		c.send(UserSpeaking{})
	}
	words, of := c.parted(&heard)
	if of != "" {
		c.mayAnswer(heard.told)
	}
	if of != "" && !c.keepLate(id.NewTurn(), heard.lateWords(), of, heard.since) {
		return false
	}
	c.awaitLate(&heard, key, words)
	if words = truncateRunes(words, maxTextRunes); words == "" {
		return true
	}
	t.late.taken = words
	if !c.heard(heard, words, session.Voice) {
		return false
	}
	if !c.showsListening(&heard, words) && (!heard.stopping || !onlyStops(c.language, words)) {
		c.unanswered = append(c.unanswered, words)
	}
	return true
}

// takeAnswer takes the last words that were said to a question as its answer, with those before. A rule that forbids
// them is returned: then they are none.
func (c *Conversation) takeAnswer(text string, when session.Came) *guardrail {
	t, goal := c.timing, c.goals.current()
	key, output := goal.Key, answerOf(goal)
	t.late.taken = strings.TrimSpace(text)
	answer := strings.TrimSpace(c.goals.values[output])
	var rule *guardrail
	if text = strings.TrimSpace(text); text != "" {
		if rule = matching(c.rules, c.language, text); rule != nil {
			t.doubt(key, session.Forbidden)
		} else if c.answersQuestion(heardIntent(c.language, text), text) {
			answer = strings.TrimSpace(answer + "\n" + text)
		}
	}
	came := when
	if answer == "" {
		came = session.NoAnswer
	} else {
		c.goals.values[output] = answer
	}
	t.came(key, came)
	c.goals.leave(answer != "")
	return rule
}

// neverPut notes the questions that nobody was asked.
func (c *Conversation) neverPut() {
	for i := range c.goals.all {
		goal := &c.goals.all[i]
		if key := questionOf(goal); key != "" && !c.goals.met[key] && !c.goals.passed[key] && c.timing.kept.Questions[key].Came == "" {
			c.goals.passed[key] = true
			c.timing.came(key, session.NeverPut)
		}
	}
	c.goals.skip()
}

// forbidLate does what a guardrail demands of an answer whose time has run out; true says that nothing follows.
func (c *Conversation) forbidLate(rule *guardrail) bool {
	if c.forbidding != nil {
		c.forbidding(rule)
	}
	if rule.action == actHandoff {
		return !c.handOff(rule.message, inbox.ByRule)
	}
	told := *rule
	if told.action == actRedirect {
		told.action = "" // what is to be answered follows anyway
	}
	s := c.reply(c.ownOrigin(), c.rebuff(&told)...)
	s.act, s.asking, s.interruptible = rule.act(), true, false
	if rule.action == actEnd {
		c.last(s, EndedRule)
		return true
	}
	c.speak(s)
	return false
}

// afterTime says that the time is up, and what follows.
func (c *Conversation) afterTime(of closing) {
	texts := []string{bookOf(c.language).timeUp}
	if of == ofAll {
		s := c.reply(c.ownOrigin(), append(texts, c.endingWords()...)...)
		s.asking, s.closes = true, true
		c.last(s, EndedTime)
		return
	}
	s := c.sayNext(texts)
	s.closes, s.interruptible = true, false // people are to hear it
}

// takeLast takes what was said to a question as its answer where the session ends over it. Who leaves without a word has
// not answered, and time is no reason.
func (c *Conversation) takeLast() {
	t := c.timing
	if t == nil || c.lost {
		return
	}
	if c.reason == "" && !c.finishing { // it goes on elsewhere, with the time that is left
		c.noteTime()
		return
	}
	t.tick(c.now())
	text := strings.Join(c.unanswered, " ")
	c.unanswered = nil
	changed := false
	if key := t.put; key != "" && key == questionOf(c.goals.current()) {
		changed = true
		switch had := c.goals.values[answerOf(c.goals.current())]; {
		case t.closing != within:
			c.takeAnswer(text, session.RanOut)
		case strings.TrimSpace(text+had) != "":
			c.takeAnswer(text, session.InTime)
		}
	}
	if t.kept.Over {
		c.neverPut()
		changed = true
	}
	if changed {
		c.noted("goal", c.config.Journal.Collected(c.ctx, c.found()))
	}
}

// wasAnswered notes that the question that was put is answered in its time.
func (c *Conversation) wasAnswered() {
	t, key := c.timing, questionOf(c.goals.current())
	if t == nil || key == "" {
		return
	}
	t.tick(c.now())
	t.came(key, session.InTime)
}
