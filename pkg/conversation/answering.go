package conversation

import (
	"context"
	"slices"
	"strings"

	"visavis.dev/pkg/session"
)

// proceed does the next thing that can be done; false when there is none, or
// somebody else has the floor.
func (c *Conversation) proceed() bool {
	if s := c.current; s != nil {
		switch {
		case len(s.pending) > 0:
			c.utter()
		case s.whole && !c.isSet(turnPlayed):
			c.finalise()
		default:
			return false
		}
		return true
	}
	if (c.ear.busy() || !c.ready) && !c.finishing {
		return false
	}
	switch {
	case len(c.queue) > 0:
		c.current, c.queue = c.queue[0], c.queue[1:]
		c.current.turn.Index = c.index
		c.corrected = nil
		return true
	case len(c.unanswered) > 0 && c.thought == nil && !c.silent():
		c.answer()
		return true
	default:
		return false
	}
}

// silent says whether the avatar is to say nothing of its own.
func (c *Conversation) silent() bool { return c.mute || c.finishing || c.takenOver() }

// answer replies to what the user said: by a rule, by what needs no knowledge,
// by a goal, or by a brain.
func (c *Conversation) answer() {
	text := strings.Join(c.unanswered, " ")
	if rule := matching(c.rules, c.language, text); rule != nil {
		c.forbid(rule)
		return
	}
	means := intentOf(c.language, text)
	if c.confirmed(means, text) || c.small(means) || c.filled(text) {
		c.unanswered = nil
		return
	}
	c.goals.asked = false
	c.consider(text)
}

// small replies to what needs no knowledge. What is mere talk is left to a model
// that may say what it likes.
func (c *Conversation) small(means intent) bool {
	book := bookOf(c.language)
	switch means {
	case sayGoodbye:
		return c.goodbye()
	case askPerson:
		return c.enabled("handoff") && c.handOff("")
	case askRepeat:
		c.repeat()
		return true
	case askWho:
		texts := []string{c.filledIn(book.who)}
		if role := c.config.Persona.Role; role != nil {
			texts = append(texts, c.filledIn(*role))
		}
		c.speak(c.reply(c.ownOrigin(), texts...))
		return true
	}
	if c.model != nil && c.config.Persona.Knowledge.Mode != strict {
		return false
	}
	text, ok := map[intent]string{
		sayGreeting: book.welcome, sayThanks: book.thanks, askWellness: book.wellness,
	}[means]
	if means == sayYes || means == sayNo {
		// Without a question before it, neither says anything; as a goal's answer it does.
		text, ok = book.askAgain, !c.goals.asked
	}
	if ok {
		c.speak(c.reply(c.ownOrigin(), text))
	}
	return ok
}

// repeat says the avatar's last words again.
func (c *Conversation) repeat() {
	text := bookOf(c.language).askAgain
	for _, turn := range slices.Backward(c.turns) {
		if turn.Speaker == session.Avatar && turn.Text != "" && !turn.Unrecorded {
			text = turn.Text
			break
		}
	}
	c.speak(c.reply(c.ownOrigin(), text))
}

// consider has a brain answer.
func (c *Conversation) consider(text string) {
	q := c.question(text)
	c.previous = text
	brain := c.builtin
	if c.model != nil {
		brain = c.model
	}
	c.think(&thought{question: text, language: c.language}, func(ctx context.Context) Stream {
		return brain.Answer(ctx, q)
	})
}

// question is what a brain is told. It shares nothing with the state.
func (c *Conversation) question(text string) Question {
	past := slices.Clone(c.turns)
	// What is being asked now is the last of the turns, and not of the past.
	for range c.unanswered {
		if len(past) > 0 && past[len(past)-1].Speaker == session.User {
			past = past[:len(past)-1]
		}
	}
	q := Question{Text: text, Language: c.language, Previous: c.previous, History: past}
	q.Brief = Brief{Instructions: c.filledIn(c.instructions), Context: c.context}
	if c.config.Persona.Privacy.Memory == "person" {
		q.Brief.Memories = c.config.Session.Memories
	}
	return q
}

// forbid does what a guardrail demands.
func (c *Conversation) forbid(rule *guardrail) {
	c.unanswered = nil
	message := rule.message
	if message == "" {
		message = bookOf(c.language).refuse
	}
	message = c.filledIn(message)
	switch rule.action {
	case actHandoff:
		c.handOff(rule.message)
	case actEnd:
		s := c.reply(c.ownOrigin(), message)
		c.last(s, EndedRule)
	case actRedirect:
		texts := []string{message}
		if goal := c.goals.current(); goal != nil {
			texts = append(texts, c.filledIn(goal.Prompt))
			c.goals.wasAsked()
		}
		s := c.reply(c.ownOrigin(), texts...)
		s.asking = true
		c.speak(s)
	default:
		c.speak(c.reply(c.ownOrigin(), message))
	}
}

// last has something said that nothing follows but the end.
func (c *Conversation) last(s *speech, reason string) {
	s.interruptible = false
	s.afterwards = func() { c.stop(reason) }
	c.queue = nil
	c.speak(s)
}

func (c *Conversation) filledIn(text string) string { return fill(text, c.variables) }
