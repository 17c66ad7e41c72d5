package conversation

import (
	"context"
	"slices"

	"visavis.dev/pkg/sessions/session"
)

// begin marks the client as ready, and tells once that it talks with an AI.
func (c *Conversation) begin() {
	if c.ready {
		return
	}
	c.ready = true
	c.activeAt = c.now()
	c.send(Notice{Kind: AINotice, Text: c.disclosure()})
	if !c.begun {
		c.begun = true
		if c.config.Persona.Disclosure.Spoken {
			s := c.fixed(session.Greeting, c.disclosure())
			s.interruptible = false // people are to hear it
			s.asking = true
			c.speak(s)
		}
		return
	}
	// A question that a crash left without its answer gets one now.
	turns := slices.DeleteFunc(slices.Clone(c.turns), func(t session.Turn) bool { return c.cameLate(t.ID) })
	settled := c.timing != nil && c.timing.settled
	if c.timing != nil && c.timing.closing != within {
		c.set(graceEnds, grace)
	}
	if last := len(turns) - 1; last >= 0 && turns[last].Speaker == session.User && !settled {
		c.ask(turns[last].Text)
		return
	}
	c.goOnToEnd()
}

// goOnToEnd ends a conversation whose questions were all put when the process before was lost, and in which nothing else is
// asked for.
func (c *Conversation) goOnToEnd() {
	if !c.config.Session.Ends || c.goals.current() != nil || c.silent() || !c.goals.questioned() || c.timing != nil && c.timing.kept.Over {
		return
	}
	c.last(c.fixed(c.ownOrigin(), c.endingWords()...), EndedByUser)
}

// disclosure tells people what they talk with in the language they speak: in the
// persona's words where it has some in that language, else in the product's.
func (c *Conversation) disclosure() string {
	own := c.config.Persona.Disclosure.Text
	if own[c.language] == "" && own[base(c.language)] == "" && phrases[base(c.language)] != nil {
		return phrases[base(c.language)].disclosure
	}
	if text := c.filledIn(inLanguage(own, c.language)); text != "" {
		return text
	}
	return bookOf(c.language).disclosure
}

// greet opens a new conversation when the client is ready.
func (c *Conversation) greet() {
	fresh := !c.begun
	c.begin()
	if !fresh || c.silent() {
		return
	}
	greeting := &c.config.Persona.Greeting
	builtin := c.filledIn(bookOf(c.language).greeting)
	switch own := c.config.Session.Greeting; {
	case own != nil && c.filledIn(*own) != "":
		c.speak(c.fixed(session.Greeting, c.filledIn(*own)))
	case own != nil, greeting.Mode == "none":
		c.mayAsk = true
	case greeting.Mode == "generated" && c.model != nil:
		q := c.question("")
		c.think(&thought{language: c.language, greeting: true}, func(ctx context.Context) Stream {
			return c.model.Greet(ctx, q, builtin)
		})
	case greeting.Mode == "generated":
		c.speak(c.welcome(builtin))
	default:
		text := c.filledIn(inLanguage(greeting.Text, c.language))
		if text == "" {
			c.speak(c.welcome(builtin))
			return
		}
		c.speak(c.fixed(session.Greeting, text))
	}
}

func (c *Conversation) originOf(t *thought) session.Origin {
	if t.greeting {
		return session.Greeting
	}
	return c.ownOrigin()
}
