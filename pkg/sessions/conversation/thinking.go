package conversation

import (
	"context"
	"errors"
	"time"
)

// thought is an answer in the making. Its pieces become a speech.
type thought struct {
	cancel   context.CancelFunc
	question string
	language string
	speech   *speech
	// greeting says that nothing was asked, and danger that somebody is in some.
	greeting, danger bool
}

// thoughtPiece is what a thought brings forth: a piece, or its end.
type thoughtPiece struct {
	of    *thought
	piece Piece
	err   error
	ended bool
}

// maxThinking is how long an answer may take besides the model's own patience,
// before it is given up.
const maxThinking = 15 * time.Second

// think has a brain answer, in a goroutine of its own.
func (c *Conversation) think(t *thought, stream func(ctx context.Context) Stream) {
	ctx, cancel := context.WithCancel(c.ctx)
	t.cancel = cancel
	c.thought = t
	c.set(thinksTooLong, time.Duration(c.config.Persona.Model.TimeoutMs)*time.Millisecond+maxThinking)
	c.tell()
	c.running.Go(func() {
		tell := func(p thoughtPiece) bool {
			select {
			case c.thoughts <- p:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for piece, err := range stream(ctx) {
			if !tell(thoughtPiece{of: t, piece: piece, err: err}) {
				return
			}
			if err != nil {
				break
			}
		}
		tell(thoughtPiece{of: t, ended: true})
	})
}

// take takes the next piece of the answer in the making.
func (c *Conversation) take(p thoughtPiece) {
	t := c.thought
	if t != p.of {
		return // of an answer that was interrupted
	}
	switch {
	case errors.Is(p.err, ErrNoModel):
		c.log.Warn("no answer, and nobody else may give one", "session", c.config.Session.ID, "error", p.err)
		c.send(Error{Code: EndedModel, Message: "The conversation cannot go on.", Fatal: true})
		c.stop(EndedModel)
	case p.err != nil:
		c.log.Warn("an answer broke off", "session", c.config.Session.ID, "error", p.err)
	case p.ended:
		c.conclude(t)
	default:
		c.voice(t, p.piece)
	}
}

// voice says a piece of an answer, unless a guardrail forbids it.
func (c *Conversation) voice(t *thought, p Piece) {
	if c.model != nil {
		if rule := matching(c.rules, c.language, p.Text+p.withheld); rule != nil {
			c.unanswered = nil
			c.conclude(t)
			c.forbid(rule)
			return
		}
	}
	if p.withheld != "" {
		return
	}
	s := t.speech
	if s == nil {
		s = c.newSpeech(c.originOf(t))
		s.turn.Language = t.language
		s.pending = append(s.pending, p)
		t.speech = s
		s.answers, s.grave = !t.greeting, t.danger
		c.time(s, p)
		c.queue = append(c.queue, s)
	} else {
		s.pending = append(s.pending, p)
	}
	if !t.greeting {
		s.act = s.act.with(p)
	}
	if p.Gap {
		s.gap = t.question
	}
	c.clear(thinksTooLong)
	c.bound(t)
}

// bound ends an answer that takes longer to say than a turn may.
func (c *Conversation) bound(t *thought) {
	most := time.Duration(c.config.Persona.Conversation.MaxTurnS) * time.Second
	if most > 0 && t.speech.line.expected() > most {
		c.conclude(t)
	}
}

// conclude ends a thought: no more comes. A question that brought nothing forth
// is honestly not answered.
func (c *Conversation) conclude(t *thought) {
	t.cancel()
	c.thought = nil
	c.clear(thinksTooLong)
	if t.speech != nil {
		t.speech.whole = true
		return
	}
	if !t.greeting && len(c.unanswered) > 0 {
		c.unanswered = nil
		s := c.reply(c.ownOrigin(), bookOf(c.language).dontKnow)
		s.act = ActUnknown
		c.speak(s)
	}
}

// time tells on a speech how long its answer took.
func (c *Conversation) time(s *speech, p Piece) {
	if !c.heardAt.IsZero() {
		s.turn.Timing.ResponseMs = c.now().Sub(c.heardAt).Milliseconds()
	}
	if p.Retrieval >= 0 {
		s.turn.Timing.RetrievalMs = p.Retrieval.Milliseconds()
	}
	if p.ModelFirst >= 0 {
		s.turn.Timing.ModelFirstMs = p.ModelFirst.Milliseconds()
	}
}
