package conversation

import (
	"slices"
	"time"
)

// bargeInDelays are how long a user speaks over the avatar before it yields, by
// Conversation.interruptible. One that is off never does.
var bargeInDelays = map[string]time.Duration{
	"high": 200 * time.Millisecond, "medium": 500 * time.Millisecond, "low": time.Second,
}

// yields says whether what is being said may be interrupted by what the user says.
func (c *Conversation) yields() bool {
	return c.config.Persona.Conversation.Interruptible != "off" &&
		(c.current == nil || c.current.interruptible)
}

// spokenOver interrupts when the user has said enough words.
func (c *Conversation) spokenOver(words string) {
	busy := c.current != nil || c.thought != nil
	c.ear.stopping = c.ear.stopping || busy
	if busy && c.yields() && !c.isBackchannel(words) {
		c.interrupt()
	}
}

// isBackchannel says whether words do not take the floor: the "uh-huh" by which people
// show that they listen, or fewer than the persona yields to. What asks it to stop does.
func (c *Conversation) isBackchannel(words string) bool {
	if saysStop(c.language, words) {
		return false
	}
	return isListening(c.language, words) || int64(len(spokenWords(words))) < max(c.config.Persona.Conversation.MinInterruptWords, 1)
}

// answersSoon is how little of the avatar's turn is left when a word is an answer to it
// rather than a sign that somebody listens.
const answersSoon = 800 * time.Millisecond

// showsListening says whether what was heard is no turn to answer: it shows that the user
// listens to what the avatar says, or said when they began.
func (c *Conversation) showsListening(e *ear, words string) bool {
	if c.current != nil && len(e.stretches) == 0 {
		return c.isBackchannel(words)
	}
	switch {
	case c.current == nil && (e.after || c.outlastsQuestion(e)):
		return false
	case !e.overlaps && c.current == nil:
		return false
	case e.overlaps && e.left > answersSoon:
		return c.isBackchannel(words) && (c.current != nil || isListening(c.language, words))
	}
	return isFiller(c.language, words)
}

// outlastsQuestion says whether the user spoke until after the end of something that the
// avatar asked: whatever was said is the answer.
func (c *Conversation) outlastsQuestion(e *ear) bool {
	if !e.overlaps || c.lastSaid == nil || e.silentSince.Before(*c.lastSaid.turn.EndedAt) {
		return false
	}
	return c.lastSaid.asking || asksSomething(c.lastSaid.turn.Spoken)
}

// bargeIn is called when the user has spoken over the avatar for long enough. Of a voice
// whose words are known, they decide.
func (c *Conversation) bargeIn() {
	if c.current == nil || !c.yields() || c.ear.echoed() {
		return
	}
	if len(c.ear.stretches) > 0 && isListening(c.language, c.ear.words()) {
		return
	}
	c.interrupt()
}

// interrupt ends what the avatar says, and the answer it was looking for. The
// rest of the answer is dropped; the question stays if nothing of it was answered.
func (c *Conversation) interrupt() {
	if c.thought != nil {
		c.thought.cancel()
		c.thought = nil
		c.giveUpClient()
		c.clear(thinksTooLong, bridgesSilence)
	}
	c.queue = slices.DeleteFunc(c.queue, func(s *speech) bool { return s.interruptible && (s.own || s.follows != nil) })
	c.clear(bargesIn)
	if c.current != nil {
		c.end(true)
	}
	c.keepUsed()
}

// interruptedByClient ends all that may be, and what was asked: the user wants
// to hear no more of it.
func (c *Conversation) interruptedByClient() {
	c.active()
	c.hush(false)
}

// hush ends what is said, to be said, and to be answered; even what is not
// interruptible by the user, when the owner wants it.
func (c *Conversation) hush(always bool) {
	if c.current != nil && !c.current.interruptible && !always {
		return
	}
	c.forget()
	c.queue = slices.DeleteFunc(c.queue, func(s *speech) bool { return s.interruptible || always })
	c.interrupt()
}

// forget lets what the user said be unanswered; but not what waits to be taken since a time has run out.
func (c *Conversation) forget() {
	if c.timing == nil || c.timing.closing == within {
		c.unanswered = nil
	}
}
