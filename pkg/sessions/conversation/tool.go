package conversation

import (
	"slices"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// The outcomes of Session.outcome that a conversation itself brings about; each
// is the kind of the tool that did.
const (
	lead    = "lead"
	booking = "booking"
	handoff = "handoff"
)

// How far a tool is.
const (
	requested = "requested"
	completed = "completed"
)

func (c *Conversation) enabled(kind string) bool {
	return slices.ContainsFunc(c.config.Persona.Tools, func(t persona.Tool) bool {
		return t.Kind == kind && t.Enabled
	})
}

// use tells that a tool did something.
func (c *Conversation) use(kind, status string) session.ToolCall {
	c.send(ToolUse{Name: kind, Status: status})
	return session.ToolCall{Name: kind, Status: status}
}

// completed uses the tools that were waiting for somebody who can be reached: a
// booking, which is a lead too and more, or a lead. A hand-off outranks both.
func (c *Conversation) completed() []session.ToolCall {
	if !c.goals.contact() {
		return nil
	}
	for _, kind := range []string{booking, lead} {
		if !c.enabled(kind) || kind == booking && (!c.dated() || c.books()) { // which a chosen time completes
			continue
		}
		if c.outcome == kind || c.outcome == booking || c.outcome == handoff {
			return nil
		}
		c.outcome = kind
		return []session.ToolCall{c.use(kind, completed)}
	}
	return nil
}

// dated says whether the date of a booking is known, if any goal asks for one.
func (c *Conversation) dated() bool {
	for _, goal := range c.config.Persona.Goals {
		for _, output := range goal.Outputs {
			if patternOf(output) == "date" && c.goals.values[output] == "" {
				return false
			}
		}
	}
	return true
}

// handOff asks for a person, since the visitor or a rule did. The avatar goes on until one joins.
func (c *Conversation) handOff(message, by string) bool {
	if message == "" {
		message = bookOf(c.language).handoff
	}
	call := c.requestHandoff(by)
	s := c.reply(session.Tool, c.filledIn(message))
	s.turn.ToolCalls = []session.ToolCall{call}
	s.act = ActHandoff
	s.asking = true // nobody is held up by a goal now
	c.speak(s)
	return true
}

// requestHandoff tells everybody that a person is asked for, and by whom.
func (c *Conversation) requestHandoff(by string) session.ToolCall {
	c.outcome = handoff
	call := c.use(handoff, requested)
	if c.config.Session.PersonAsked == "" {
		c.send(Notice{Kind: HandoffRequested})
	}
	c.noted("hand-off", c.config.Journal.Collected(c.ctx, c.found(c.leftHandoff(by)...)))
	c.awaitPerson(c.now())
	return call
}

// goodbye takes leave, and ends the conversation if it may.
func (c *Conversation) goodbye() bool {
	text := c.farewell()
	if !c.enabled("end_session") {
		s := c.reply(c.ownOrigin(), text)
		s.asking, s.act = true, ActGoodbye
		c.speak(s)
		return true
	}
	s := c.reply(session.Tool, text)
	s.act = ActGoodbye
	s.turn.ToolCalls = []session.ToolCall{c.use("end_session", completed)}
	c.last(s, EndedByUser)
	return true
}

// farewell is what is said at the end.
func (c *Conversation) farewell() string {
	if text := c.filledIn(inLanguage(c.config.Persona.Closing, c.language)); text != "" {
		return text
	}
	return bookOf(c.language).closing
}
