package playout

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
)

const (
	// madeAhead is how much sound may wait before the next sentence is spoken: what is
	// interrupted was not worth speaking.
	madeAhead = 4 * time.Second
	// breath is between two sentences.
	breath = 250 * time.Millisecond
	// packet is how many samples a frame has at least; a sentence has a multiple of it.
	packet = speaker.SampleRate * sound.OpusMs / 1000
)

// errStopped says that nobody wants to hear the rest of a sentence.
var errStopped = errors.New("the turn was stopped")

// makeSound has the sentences spoken, one after the other.
func (p *Player) makeSound() {
	for {
		s, t, ctx := p.next()
		if t == nil {
			select {
			case <-p.toMake:
				continue
			case <-p.ctx.Done():
				return
			}
		}
		p.speak(ctx, s, t)
	}
}

// next takes the next sentence, if there is one and it is time to speak it.
func (p *Player) next() (Sentence, *turn, context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil || len(p.queue) == 0 || lasts(int64(len(p.turn.unsent))) > madeAhead {
		return Sentence{}, nil, nil
	}
	s := p.queue[0]
	p.queue = p.queue[1:]
	ctx, cancel := context.WithCancel(p.ctx)
	p.breakOff = cancel
	return s, p.turn, ctx
}

// speak has one sentence spoken. Whatever becomes of it is told of until it is whole.
func (p *Player) speak(ctx context.Context, s Sentence, t *turn) {
	told := Progress{Turn: s.Turn, Number: s.Number}
	first := true
	err := p.ask(ctx, s, func(c speaker.Chunk) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.turn != t {
			return errStopped
		}
		if first {
			first = false
			if t.made() > 0 {
				t.unsent = append(t.unsent, make([]int16, int(breath*speaker.SampleRate/time.Second))...)
			}
			told.Begin = lasts(t.made())
		}
		t.unsent = append(t.unsent, c.Samples...)
		p.shapes(t, told.Begin, c.Visemes)
		told.End, told.Words = lasts(t.made()), fromTurn(c.Words, told.Begin)
		p.o.Progress(told)
		wake(p.toSend)
		return nil
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.breakOff != nil {
		p.breakOff()
		p.breakOff = nil
	}
	if p.turn != t {
		return // nobody asks any more
	}
	if err != nil && !errors.Is(err, errStopped) {
		p.o.Log.WarnContext(ctx, "failed to speak a sentence, its text stands alone", "turn", s.Turn.String(), "error", err)
	}
	if odd := t.made() % packet; odd > 0 {
		t.unsent = append(t.unsent, make([]int16, packet-odd)...)
	}
	t.open--
	told.Words, told.Whole, told.Failed = nil, true, err != nil
	if first {
		told.Begin = lasts(t.made())
	}
	told.End = max(told.End, told.Begin)
	p.o.Progress(told)
	wake(p.toSend)
}

// busyAgain is how soon a speaker is asked again that was busy, and busyFor for how long: somebody
// would rather wait a moment than hear nothing.
const (
	busyAgain = 100 * time.Millisecond
	busyFor   = 5 * time.Second
)

// ask asks the speaker, unless nobody listens any more. One that is busy is asked again.
func (p *Player) ask(ctx context.Context, s Sentence, heard func(speaker.Chunk) error) error {
	by, ok := p.o.Hosts[s.Host]
	if !ok {
		by = Voice{Speaker: p.o.Speaker, In: p.o.Voice}
	}
	r := by.In(s.Language)
	r.Text, r.Language, r.Speed = s.Text, s.Language, s.Speed
	if by.Pace != nil {
		r.Speed = by.Pace(s.Speed)
	}
	for began := p.o.Clock.Now(); ; {
		if !p.Audible() {
			return errStopped
		}
		some := false
		err := by.Speaker.Speak(ctx, r, func(c speaker.Chunk) error {
			some = true
			return heard(c)
		})
		if !errors.Is(err, speaker.ErrBusy) || some || p.o.Clock.Since(began) >= busyFor {
			return err
		}
		// Not all of them at once again.
		again := p.o.Clock.NewTimer(busyAgain/2 + rand.N(busyAgain))
		select {
		case <-again.C():
		case <-ctx.Done():
			again.Stop()
			return err
		}
	}
}

// shapes notes the mouth's shapes of a sentence and tells the client; the lock is held.
func (p *Player) shapes(t *turn, begin time.Duration, items []speaker.Viseme) {
	p.announce(t)
	if len(items) == 0 {
		return
	}
	known := len(t.visemes)
	for _, v := range items {
		v.AtMs += begin.Milliseconds()
		t.visemes = append(t.visemes, v)
	}
	if p.format != None {
		p.o.Client.Visemes(t.id, t.visemes[known:])
	}
}

// made is how many samples of a turn there are by now.
func (t *turn) made() int64 { return t.sent + int64(len(t.unsent)) }

func fromTurn(words []speaker.Word, begin time.Duration) []speaker.Word {
	out := make([]speaker.Word, len(words))
	for i, w := range words {
		w.AtMs += begin.Milliseconds()
		out[i] = w
	}
	return out
}
