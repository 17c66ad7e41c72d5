package conversation

import (
	"context"
	"slices"
	"strings"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
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
	if (c.ear.busy() || !c.ready || c.timing != nil && c.timing.closing != within) && !c.finishing {
		return false
	}
	if c.paused && !c.finishing {
		return false
	}
	if c.takenOver() && !c.finishing { // orders of the owner's wait
		c.queue = slices.DeleteFunc(c.queue, func(s *speech) bool { return s.own })
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
func (c *Conversation) silent() bool { return c.mute || c.paused || c.finishing || c.takenOver() }

// answer replies to what the user said: by a rule, by what needs no knowledge,
// by a goal, or by a brain.
func (c *Conversation) answer() {
	text := strings.Join(c.unanswered, " ")
	c.call(text)
	if rule := matching(c.rules, c.language, text); rule != nil {
		c.forbid(rule)
		return
	}
	means := heardIntent(c.language, text)
	if c.permitted(means, text) {
		return
	}
	switch {
	case c.appoint(means, text) || c.confirmed(means, text) || c.answersQuestion(means, text) && c.filled(text):
		c.unanswered = nil
	case c.small(means):
		c.answeredSmall()
	case c.filled(text):
		c.unanswered = nil
	default:
		c.goals.asked = false
		c.consider(text)
	}
}

// answeredSmall takes what was said as answered, unless the answer is still looked for: it is then
// once something of it is voiced.
func (c *Conversation) answeredSmall() {
	if c.thought == nil {
		c.unanswered = nil
	}
}

// small replies to what needs no knowledge.
func (c *Conversation) small(means intent) bool {
	switch means {
	case sayGoodbye:
		return c.goodbye()
	case askPerson:
		if text := strings.Join(c.unanswered, " "); answer.SeeksWhom(c.language, text) {
			q := c.question(text)
			c.previous = text
			c.think(&thought{question: text, language: c.language, whom: true}, func(ctx context.Context) Stream { return c.whom(ctx, q) })
			return true
		}
		return c.askForPerson()
	case askAbility, askLanguages, askKept:
		return c.aside(means)
	case askRepeat:
		c.repeat()
		return true
	case askSure:
		return c.standBy()
	}
	texts, ok := c.pleasantry(means)
	if ok {
		again := c.putAgain(means)
		s := c.reply(c.ownOrigin(), append(texts, again...)...)
		s.act, s.asking = actsOf[means], len(again) > 0
		c.speak(s)
	}
	return ok
}

// askForPerson asks for a person, or tells how one is reached.
func (c *Conversation) askForPerson() bool {
	if elsewhere := c.config.Session.PersonAsked; elsewhere != "" || c.enabled(handoff) {
		return c.handOff(elsewhere, inbox.ByVisitor)
	}
	return c.aside(askPerson)
}

// aside has the packs tell what is asked about the avatar itself.
func (c *Conversation) aside(means intent) bool {
	q, again := c.question(strings.Join(c.unanswered, " ")), c.putAgain(means)
	c.think(&thought{question: q.Text, language: c.language}, func(ctx context.Context) Stream {
		return func(yield func(Piece, error) bool) {
			for p, err := range c.asides[means](ctx, q) {
				if !yield(p, err) {
					return
				}
			}
			for _, text := range again {
				if !yield(Piece{Text: text, Act: actsOf[means], asks: true, Retrieval: untold, ModelFirst: untold}, nil) {
					return
				}
			}
		}
	})
	return true
}

// repeat says the avatar's last words again.
func (c *Conversation) repeat() { c.sayAgain(c.lastWords(nil)) }

func (c *Conversation) sayAgain(said []session.Turn) {
	if len(said) == 0 {
		s := c.reply(c.ownOrigin(), bookOf(c.language).askAgain)
		s.act = ActClarify
		c.speak(s)
		return
	}
	s := c.reply(c.ownOrigin())
	s.act = ActRepeat
	for _, turn := range said {
		by := c.saysAgain(&turn)
		for _, sentence := range sentencesOf(withoutSources(&turn, withoutMoment(&turn, turn.Text))) {
			s.pending = append(s.pending, Piece{Text: sentence, Retrieval: untold, ModelFirst: untold, host: by})
		}
	}
	c.speak(s)
}

// saysAgain is the host who says again what a turn said, nil where there are none.
func (c *Conversation) saysAgain(t *session.Turn) *persona.Host {
	if c.called != nil || c.floor == nil {
		return c.called
	}
	return c.floor.At(t.Host)
}

// lastWords are the turn of the avatar's last words; of a duo, those in which the two said them. What is
// skipped are none.
func (c *Conversation) lastWords(skips func(*session.Turn) bool) (said []session.Turn) {
	for _, turn := range slices.Backward(c.turns) {
		ours := turn.Speaker == session.Avatar && !turn.Unrecorded && withoutMoment(&turn, turn.Text) != "" && (skips == nil || !skips(&turn))
		switch {
		case len(said) == 0 && !ours:
			continue
		case len(said) > 0 && (!ours || turn.Host == "" || turn.Host == said[0].Host):
			return said
		}
		said = slices.Insert(said, 0, turn)
	}
	return said
}

// consider has a brain answer.
func (c *Conversation) consider(text string) {
	q := c.question(text)
	c.previous, q.offers, q.uses = text, c.tools, slices.Clone(c.uses)
	brain := c.builtin
	if c.model != nil && !q.danger { // who is in danger is told what to do, at once and always the same
		brain = c.model
	}
	c.think(&thought{question: text, language: c.language, danger: q.danger, bridges: brain != c.builtin}, func(ctx context.Context) Stream {
		return brain.Answer(ctx, q)
	})
}

// considerAgain has the model go on, which asked for a tool that the visitor has now allowed.
func (c *Conversation) considerAgain(text string, call *toolCall) {
	q := c.question(text)
	q.offers, q.uses, q.resumed = c.tools, slices.Clone(c.uses), call
	c.think(&thought{question: text, language: c.language, bridges: true}, func(ctx context.Context) Stream {
		return c.model.Answer(ctx, q)
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
	q := Question{Text: text, Language: c.language, Previous: c.previous, History: past, Now: c.config.localNow()}
	q.danger, q.explain = answer.Endangered(c.language, text), c.config.Explain
	q.synonyms = c.synonyms
	q.Brief = Brief{Instructions: c.filledIn(c.instructions), Context: c.context, Goals: c.goals.told()}
	if c.config.Persona.Privacy.Memory == "person" {
		q.Brief.Memories = c.config.Session.Memories
	}
	return q
}

// forbid does what a guardrail demands.
func (c *Conversation) forbid(rule *guardrail) {
	c.unanswered = nil
	if c.forbidding != nil {
		c.forbidding(rule)
	}
	if rule.action == actHandoff {
		c.handOff(rule.message, inbox.ByRule)
		return
	}
	s := c.reply(c.ownOrigin(), c.rebuff(rule)...)
	s.act = rule.act()
	switch rule.action {
	case actEnd:
		c.last(s, EndedRule)
		return
	case actRedirect:
		if c.goals.current() != nil {
			c.goals.wasAsked()
			s.asks = questionOf(c.goals.current())
		}
		s.asking = true
	}
	c.speak(s)
}

// rebuff is what is said where a guardrail forbids an answer.
func (c *Conversation) rebuff(rule *guardrail) []string {
	message, goal := rule.message, c.goals.current()
	switch {
	case message != "":
	case rule.action == actHandoff:
		message = bookOf(c.language).handoff
	default:
		message = bookOf(c.language).refuse
	}
	texts := []string{c.filledIn(message)}
	if rule.action == actRedirect && goal != nil {
		texts = append(texts, c.asksFor(goal)...)
	}
	return texts
}

// last has something said that nothing follows but the end.
func (c *Conversation) last(s *speech, reason string) {
	s.interruptible = false
	s.afterwards = func() { c.stop(reason) }
	c.queue = nil
	c.speak(s)
}

func (c *Conversation) filledIn(text string) string { return fill(text, c.variables) }
