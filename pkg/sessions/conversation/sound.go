package conversation

import (
	"time"

	"visavis.dev/pkg/base/id"
)

// Sound makes the sound of what is said, and plays it to the client. None of its methods
// waits: what becomes of a sentence it tells by Conversation.Sounded.
type Sound interface {
	// Audible says whether the client plays sound now.
	Audible() bool
	// Say has a sentence said after those before it. Each is told of until it is whole,
	// whatever becomes of it, in the order in which they were given.
	Say(s Sentence)
	// Finish says that no more sentences of a turn come.
	Finish(turn id.Turn)
	// Stop ends a turn: once it returns no more of it is played.
	Stop(turn id.Turn)
}

// Sentence is something to say.
type Sentence struct {
	Turn id.Turn
	// Number counts the sentences of a turn, from 0.
	Number         int
	Text, Language string
	// Host is the seat of the host of a duo who says it; empty for the only one.
	Host string
	// Speed is a factor of the voice's natural pace.
	Speed float64
}

// Sounded tells of a sentence's sound. All times are from the first sample of the turn.
type Sounded struct {
	Turn   id.Turn
	Number int
	// Begin is where the sentence begins, and End how far its sound is known.
	Begin, End time.Duration
	// Marks are the words that are new, in order.
	Marks []Mark
	// Whole says that nothing more of the sentence comes, and Failed that what is left
	// of it makes no sound.
	Whole, Failed bool
}

// Mark is when something of a sentence is heard: the bytes From to To of its text.
type Mark struct {
	At, Lasts time.Duration
	From, To  int
}

// Sounded takes what became of a sentence that was to be said aloud.
func (c *Conversation) Sounded(s Sounded) bool { return c.order(func() { c.sounded(s) }) }

// sounds says whether what is said next of a speech is said by Sound. What a client that
// went away was to hear is told in order with the rest.
func (c *Conversation) sounds(s *speech) bool {
	return c.config.Sound != nil && c.config.aloud() && (s.line.awaits() || c.config.Sound.Audible())
}

// saidAloud is the sentence that was added to a speech last as Sound is to say it; false
// where nobody hears it.
func (c *Conversation) saidAloud(s *speech, text string) (Sentence, bool) {
	if !c.sounds(s) {
		return Sentence{}, false
	}
	speed := c.config.Persona.Settings.Speed
	return Sentence{
		Turn: s.turn.ID, Number: s.line.await(text, len(s.turn.Text)-len(text), speed), Text: text,
		Host: s.turn.Host, Language: s.turn.Language, Speed: speed,
	}, true
}

// sounded puts the true times of a sentence on the timeline of the speech.
func (c *Conversation) sounded(told Sounded) {
	s := c.current
	if s == nil || s.turn.ID != told.Turn {
		return // of a turn that was stopped
	}
	if words := s.line.sounded(told, c.elapsed(s), c.config.Persona.Settings.Speed); len(words) > 0 {
		c.send(Words{Turn: s.turn.ID, Items: words})
	}
	if s.done() && c.isSet(turnPlayed) {
		c.set(turnPlayed, c.remaining(s))
	}
}

// elapsed is how long ago a speech began.
func (c *Conversation) elapsed(s *speech) time.Duration { return c.now().Sub(s.turn.StartedAt) }

// remaining is how long the rest of a speech takes to play. A client's playing is not
// waited for longer than that could take twice.
func (c *Conversation) remaining(s *speech) time.Duration {
	end := s.line.expected()
	if s.report < 0 {
		return end - c.position(s)
	}
	latest := s.turn.StartedAt.Add(2*end + slack).Sub(c.now())
	return min(end-s.report, latest)
}

// soundAgain is how soon it is looked again whether late sound came.
const soundAgain = time.Second

// isLate says whether the sound of a speech is still on its way though it should have
// been played by now, and is worth waiting for.
func (c *Conversation) isLate(s *speech) bool {
	return s.line.awaits() && c.elapsed(s) < 2*s.line.expected()+slack
}
