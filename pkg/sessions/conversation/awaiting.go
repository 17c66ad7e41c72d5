package conversation

import (
	"slices"
	"time"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// callback is the key of the goal that asks how a visitor is reached whom nobody has time for.
// No persona's goal has it.
const callback = "~callback"

// awaitPerson begins to wait for the person who was asked for at a time, unless one is here.
func (c *Conversation) awaitPerson(since time.Time) {
	wait := c.config.Persona.HandoffWait()
	if wait == 0 || c.attended() || c.rehearsing || c.isSet(nobodyComes) || c.config.Session.PersonAsked != "" {
		return
	}
	if c.nobodyThere() {
		wait = min(wait, unstaffed)
	}
	c.set(nobodyComes, max(since.Add(wait).Sub(c.now()), 0))
}

// attended says whether a team member is here who can talk.
func (c *Conversation) attended() bool {
	for _, s := range c.staff {
		if !s.OnlyListens {
			return true
		}
	}
	return false
}

// unstaffed is how long a visitor waits to be told that nobody is free where that is known already: so long that they
// were told that a person is asked.
const unstaffed = 2 * time.Second

// nobodyThere says that it is known that nobody can come.
func (c *Conversation) nobodyThere() bool {
	journal, knows := c.config.Journal.(Staffing)
	if !knows {
		return false
	}
	nobody, err := journal.Nobody(c.ctx)
	if err != nil {
		c.log.Warn("failed to find out whether anybody is there", "session", c.config.Session.ID, "error", err)
		return false
	}
	return nobody
}

// awaitAgain goes on waiting for a person who was asked for in the process before, if the turns
// do not tell that one came, or that nobody did.
func (c *Conversation) awaitAgain(turns []session.Turn) {
	for _, t := range slices.Backward(turns) {
		if t.Speaker == session.Staff {
			return
		}
		for _, use := range slices.Backward(t.ToolCalls) {
			if use.Name != handoff {
				continue
			}
			if use.Status == requested {
				c.awaitPerson(t.StartedAt)
			}
			return
		}
	}
}

// nobodyCame tells a visitor who waits for a person that nobody is free, and asks how they are
// reached, where that is of use and not known. What they answer is added to the hand-off.
func (c *Conversation) nobodyCame() {
	if c.attended() || c.silent() {
		return
	}
	book := bookOf(c.language)
	texts := []string{book.nobody}
	switch {
	case !c.config.Session.Reachable:
	case c.goals.contact():
		texts = append(texts, book.reached)
	default:
		texts = append(texts, c.asksFor(c.goals.callBack(book.callback))...)
		c.goals.wasAsked()
	}
	s := c.fixed(session.Tool, texts...)
	s.turn.ToolCalls = []session.ToolCall{c.use(handoff, failed)}
	c.recall(handoff + ": " + failed + ", since nobody is free")
	s.act, s.asking, s.interruptible = ActHandoff, true, false // people are to hear it
	c.speak(s)
}

// callBack makes the current goal one that asks how somebody is reached: the persona's own, or
// else one with this prompt, which the goal of before follows.
func (g *goals) callBack(prompt string) *persona.Goal {
	for i := range g.all {
		if goal := &g.all[i]; !g.met[goal.Key] && slices.ContainsFunc(goal.Outputs, isContact) {
			g.pursue(goal.Key)
			return g.current()
		}
	}
	goal := persona.Goal{Key: callback, Prompt: prompt, Outputs: []string{"email", "phone"}}
	if now := g.current(); now != nil {
		goal.Next = new(now.Key)
	}
	g.all = append(slices.Clone(g.all), goal)
	g.pursue(callback)
	return g.current()
}
