package conversation

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// thought is an answer in the making. Its pieces become a speech.
type thought struct {
	cancel   context.CancelFunc
	question string
	language string
	speech   *speech
	// greeting says that nothing was asked, danger that somebody is in some, and whom that a person
	// is asked for where it brings nothing forth.
	greeting, danger, whom bool
	// bridges says that one moment is asked for where the answer is late, and answered
	// that a piece of it came.
	bridges, answered bool
	// used says that a tool was, failed that the last one failed, and ends that the
	// conversation ends with the answer.
	used, failed, ends bool
	// handedOff says that a team member was asked for.
	handedOff bool
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

var errPanicked = errors.New("the answer panicked")

// bridged is how long a visitor waits in silence for a model's first words, before they are
// asked for one moment.
const bridged = time.Second

// think has a brain answer, in a goroutine of its own.
func (c *Conversation) think(t *thought, stream func(ctx context.Context) Stream) {
	ctx, cancel := context.WithCancel(c.ctx)
	t.cancel = cancel
	c.thought = t
	c.set(thinksTooLong, time.Duration(c.config.Persona.Model.TimeoutMs)*time.Millisecond+maxThinking)
	if t.bridges && c.config.aloud() {
		c.set(bridgesSilence, bridged)
	}
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
		// What one visitor says ends nobody else's conversation.
		defer func() {
			if p := recover(); p != nil {
				c.log.Error("an answer panicked", "session", c.config.Session.ID, "panic", p, "stack", string(debug.Stack()))
				tell(thoughtPiece{of: t, err: errPanicked})
				tell(thoughtPiece{of: t, ended: true})
			}
		}()
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
	switch {
	case p.call != nil:
		c.useTool(t, p.call)
		return
	case p.person:
		c.conclude(t) // who is asked for answers
		return
	case p.gaveUp != nil:
		c.giveUp(p.gaveUp, failed)
		return
	}
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
	s := c.speechOf(t)
	s.pending = append(s.pending, p)
	if !t.answered {
		t.answered, s.answers, s.grave = true, !t.greeting, t.danger
		c.time(s, p)
	}
	if !t.greeting {
		s.act = s.act.with(p)
	}
	if p.Gap {
		s.gap = t.question
	}
	c.clear(thinksTooLong, bridgesSilence)
	c.bound(t)
}

// speechOf is the speech that an answer becomes, which is the next to be said.
func (c *Conversation) speechOf(t *thought) *speech {
	if t.speech == nil {
		t.speech = c.newSpeech(c.originOf(t))
		t.speech.turn.Language = t.language
		if !t.greeting {
			t.speech.kind, t.speech.called = ofAnswer, c.called
		}
		c.queue = append(c.queue, t.speech)
	}
	return t.speech
}

// bridge asks for one moment, as the beginning of the answer that is late.
func (c *Conversation) bridge() {
	t := c.thought
	if t == nil || t.answered || c.silent() {
		return
	}
	c.speechOf(t).pending = []Piece{{Text: bookOf(t.language).moment, Retrieval: untold, ModelFirst: untold}}
}

// withoutMoment is what a turn of the avatar's says besides asking for one moment.
func withoutMoment(t *session.Turn, text string) string {
	if t.Speaker != session.Avatar {
		return text
	}
	moment := bookOf(t.Language).moment
	if strings.HasPrefix(moment, text) {
		return "" // not even all of that was heard
	}
	return strings.TrimSpace(strings.TrimPrefix(text, moment))
}

// bound ends an answer that takes longer to say than a turn may.
func (c *Conversation) bound(t *thought) {
	most := time.Duration(c.config.Persona.Conversation.MaxTurnS) * time.Second
	if most > 0 && t.speech.expected(c.config.Persona.Settings.Speed) > most {
		c.conclude(t)
	}
}

// conclude ends a thought: no more comes. A question that brought nothing forth
// is honestly not answered.
func (c *Conversation) conclude(t *thought) {
	t.cancel()
	c.thought = nil
	c.clear(thinksTooLong, bridgesSilence)
	defer c.ending(t)
	if t.speech != nil {
		defer func() { t.speech.whole = true }()
	}
	if t.answered || t.greeting || len(c.unanswered) == 0 {
		return
	}
	if t.whom {
		c.askForPerson()
		c.answeredSmall()
		return
	}
	s := c.speechOf(t)
	if t.used && !t.failed { // the model did it without a word
		s.pending, s.act, s.answers, s.whole = append(s.pending, c.afterUse(t)), ActAcknowledge, true, true
		return
	}
	nothing := unknown(c.language)
	nothing.Gap, nothing.Grounded = false, nil // nobody looked
	s.pending, s.act, s.answers, s.whole = append(s.pending, nothing), ActUnknown, true, true
	c.time(s, nothing)
}

// ending has the conversation end with an answer, where the model wanted that and something
// is said.
func (c *Conversation) ending(t *thought) {
	if !t.ends || t.speech == nil {
		return
	}
	c.record(c.use(persona.EndSessionTool, completed), nil)
	for s := t.speech; s != nil; s = s.follows {
		s.interruptible = false
	}
	t.speech.afterwards = func() { c.stop(EndedByUser) }
}

// afterUse is what is said where a model used a tool and said nothing.
func (c *Conversation) afterUse(t *thought) Piece {
	text := bookOf(c.language).noted
	if t.ends {
		text = c.farewell()
	}
	return Piece{Text: text, Retrieval: untold, ModelFirst: untold}
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
