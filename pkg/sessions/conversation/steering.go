package conversation

import (
	"maps"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// steer changes the conversation as its owner wants it.
func (c *Conversation) steer(s Steer) {
	if s.Context != nil {
		// The newest is what matters when there is too much.
		whole := strings.TrimSpace(c.context + "\n" + *s.Context)
		c.context = strings.ToValidUTF8(whole[max(0, len(whole)-maxContext):], "")
	}
	if s.Instructions != nil {
		c.instructions = *s.Instructions
	}
	if s.Language != nil && *s.Language != "" {
		c.switchTo(*s.Language)
	}
	maps.Copy(c.variables, s.Variables)
	_, named := s.Variables["persona"]
	c.named = c.named || named
	if s.Goal != nil {
		c.goals.pursue(*s.Goal)
		c.mayAsk = true
	}
	if s.Listening != nil {
		c.deaf = !*s.Listening
		if c.deaf {
			if c.ear.busy() {
				c.doubtOpen(session.WordsLost)
			}
			if c.ear.speaking && len(c.ear.stretches) > 0 {
				c.send(UserSpeaking{})
			}
			c.ear = ear{}
			c.clear(utteranceEnds, turnTooLong, bargesIn)
		}
	}
	if s.Mute != nil {
		c.mute = *s.Mute
		if c.mute {
			c.unask()
			c.silence()
		}
	}
	if s.Paused != nil && *s.Paused != c.paused {
		c.pause(*s.Paused)
	}
	if s.Interrupt {
		c.unask()
		c.hush(true)
	}
}

// pause has the conversation wait, or go on: with what the user said meanwhile, or else with what stood, which is said once
// more.
func (c *Conversation) pause(on bool) {
	if c.paused = on; on {
		c.silence()
		return
	}
	c.activeAt, c.nudged = c.now(), false
	if len(c.unanswered) == 0 && len(c.queue) == 0 && c.thought == nil && c.goals.asked && !c.silent() {
		c.standsAgain()
	}
}

// standsAgain says once more what stood when the conversation was made to wait: of what was not heard to its end, the open
// question.
func (c *Conversation) standsAgain() {
	goal, last := c.goals.current(), c.lastOfAvatar()
	if goal == nil || last == nil || !last.Interrupted {
		c.repeat()
		return
	}
	s := c.reply(c.ownOrigin(), c.filledIn(goal.Prompt))
	s.kind, s.asking, s.asks = ofQuestion, true, questionOf(goal)
	c.speak(s)
}

// lastOfAvatar is the avatar's last turn; nil for none.
func (c *Conversation) lastOfAvatar() *session.Turn {
	for i := len(c.turns) - 1; i >= 0; i-- {
		if c.turns[i].Speaker == session.Avatar {
			return &c.turns[i]
		}
	}
	return nil
}

// silence ends what the avatar says of its own, and lets the rest be.
func (c *Conversation) silence() {
	if c.current == nil || c.current.own {
		c.interrupt()
	}
}

// takenOver says whether a team member speaks in the avatar's place.
func (c *Conversation) takenOver() bool {
	for _, s := range c.staff {
		if s.Mode == StaffTakeover {
			return true
		}
	}
	return false
}

// staffJoined lets a team member in. People are told of all who hear them, those
// who only listen too.
func (c *Conversation) staffJoined(s Staff) {
	had, there := c.staff[s.ID]
	if there && had.Mode == s.Mode {
		return
	}
	before, kind := c.takenOver(), StaffJoined
	if there {
		kind = StaffChanged
	}
	c.staff[s.ID] = s
	if c.attended() {
		c.clear(nobodyComes)
	}
	if c.takenOver() && !before {
		c.giveWay()
	}
	c.send(Notice{Kind: kind, Staff: &s.ID, Name: s.Name, Mode: s.Mode})
	c.goOn(before)
}

// giveWay makes the avatar silent at once, whatever it says or is about to say: a person speaks
// in its place. What it asked for, it asks for no more. Orders of the owner's wait until it
// speaks again.
func (c *Conversation) giveWay() {
	if c.finishing {
		return // nobody takes the last words over
	}
	if c.current != nil {
		c.withoutSequel(c.current) // a goodbye is no end while a person goes on
	}
	c.doubtOpen(session.ByStaff)
	c.unask()
	if c.timing != nil && c.timing.closing == ofOne {
		c.timing.closing = within
		c.clear(graceEnds)
	}
	c.unanswered, c.unconfirmed = nil, nil
	c.goals.asked, c.goals.proposed = false, nil
	c.interrupt()
	c.clear(asksGoal, nudges)
}

// goOn has the avatar answer what nobody answered, where somebody who had taken over gave it
// its turn back.
func (c *Conversation) goOn(takenOver bool) {
	if !takenOver || c.takenOver() {
		return
	}
	if last := len(c.turns) - 1; last >= 0 && c.turns[last].Speaker == session.User {
		c.ask(c.turns[last].Text)
	}
}

func (c *Conversation) staffLeft(who id.Staff) {
	s, there := c.staff[who]
	if !there {
		return
	}
	before := c.takenOver()
	delete(c.staff, who)
	c.activeAt = c.now()
	c.send(Notice{Kind: StaffLeft, Staff: &who, Name: s.Name, Mode: s.Mode})
	c.goOn(before)
}

// staffSaid keeps a team member's words as a turn and passes them on. Those who
// only listen say nothing.
func (c *Conversation) staffSaid(who id.Staff, text string) {
	s, there := c.staff[who]
	if !there || s.Mode == StaffListens || text == "" {
		return
	}
	if c.current == nil || c.current.own {
		c.unask()
		c.interrupt()
	}
	if c.over {
		return
	}
	text = truncateRunes(text, maxTextRunes)
	now := c.now()
	turn := session.Turn{
		ID: id.NewTurn(), Index: c.index, Speaker: session.Staff, Name: s.Name, Text: text, Spoken: text,
		Language: c.language, Origin: session.Typed, StartedAt: now, EndedAt: &now,
		Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
	if !c.keep(&turn) {
		return
	}
	c.index++
	c.activeAt = now
	c.forget()
	c.clear(asksGoal, nudges, warns, silenceEnds)
	c.remember(turn)
	c.send(StaffText{Turn: turn.ID, Staff: s.ID, Name: s.Name, Text: text})
}

// maxFarewell bounds how long the end waits for the last words.
const maxFarewell = 15 * time.Second

// finish ends the conversation when its last words were spoken.
func (c *Conversation) finish(message string) {
	if c.finishing {
		return
	}
	c.finishing = true
	c.queue = nil
	if c.timing == nil {
		c.unanswered = nil // else it may be the last answer
	}
	c.interrupt()
	c.clear(asksGoal, nudges, warns, silenceEnds, utteranceEnds, turnTooLong, nobodyComes)
	s := c.fixed(session.Say, message)
	if len(s.pending) == 0 || !c.ready || c.over {
		c.over = true
		return
	}
	c.set(finishes, maxFarewell)
	c.last(s, "")
}
