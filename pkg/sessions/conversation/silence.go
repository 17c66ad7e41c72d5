package conversation

import (
	"time"
)

// warning is how long before the end a silent user is told of it, or half the
// time there is, if that is less.
const warning = 10 * time.Second

// minuteSilence sets what is to follow when nobody says anything, and lifts it
// when somebody does.
func (c *Conversation) minuteSilence() {
	quiet := c.ready && !c.paused && !c.finishing && c.current == nil && c.thought == nil && !c.ear.busy() &&
		(len(c.queue) == 0 || c.takenOver()) && (len(c.unanswered) == 0 || c.silent())
	if c.timing != nil && c.timing.holds {
		c.clear(nudges, warns, silenceEnds)
		if !quiet || c.timing.runs {
			c.clear(asksGoal)
		}
		return
	}
	if !quiet {
		c.clear(asksGoal, nudges, warns, silenceEnds)
		return
	}
	if c.mayAsk && !c.isSet(asksGoal) && c.goals.due() != nil && !c.silent() {
		c.set(asksGoal, goalPause)
	}
	turns := &c.config.Persona.Conversation
	if after := seconds(turns.IdlePromptS); after > 0 && !c.nudged && !c.isSet(nudges) && !c.silent() {
		c.due[nudges] = c.activeAt.Add(after)
	}
	if after := seconds(turns.EndAfterSilenceS); after > 0 && !c.isSet(silenceEnds) {
		c.due[silenceEnds] = c.activeAt.Add(after)
		if warn := c.due[silenceEnds].Add(-min(warning, after/2)); warn.After(c.now()) {
			c.due[warns] = warn
		}
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// nudge asks a silent user, once, whether they are there.
func (c *Conversation) nudge() {
	c.nudged = true
	s := c.fixed(c.ownOrigin(), bookOf(c.language).idle)
	s.kind, s.nudging = ofQuestion, true
	c.speak(s)
}

func (c *Conversation) warn() {
	left := c.due[silenceEnds].Sub(c.now())
	c.send(Notice{Kind: IdleWarning, EndsInS: int64(left.Round(time.Second) / time.Second)})
}
