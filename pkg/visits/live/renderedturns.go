package live

import (
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
)

const (
	// beginWithin is how long a turn may not be heard from who renders once it has its sound, or any more of it.
	beginWithin = 4 * time.Second
	// clearWithin is how long it may take to be silent for an interruption.
	clearWithin = 2 * time.Second
	// wordWithin is how long its word is awaited of how far a turn was heard that is over, and mostAwaited of how many.
	wordWithin  = 10 * time.Second
	mostAwaited = 16
	// nearEnd is how far from its last sound a turn may be to have been heard.
	nearEnd = 400 * time.Millisecond
)

// rendered is a turn whose sound who renders was sent.
type rendered struct {
	id     id.Turn
	number uint16
	// pushed is how much it was sent, loud where of that the last sound is, and began when the first of it was sent; started is
	// when that was heard, zero before.
	pushed, loud   time.Duration
	began, started time.Time
	// whole says that all of it was sent, past that the conversation has gone on without it, and cut that who renders was told to be
	// silent in it.
	whole, past, cut bool
	// told says that it was said how much of it was heard, without who renders' word.
	told bool
	// overAt is when it was told, or past; zero before.
	overAt time.Time
}

// renderedTurns are the turns whose sound who renders was sent, oldest first, and what is known of what was heard of them: the current one, and
// those that are over of which it did not say so. The zero value is none. Who has it holds the lock.
//
// Its word of a turn's end names no turn. It comes late, or never, so that each is taken for that of the first turn that it can be of.
type renderedTurns struct {
	all []*rendered
	// audible is when who renders was last loud.
	audible time.Time
}

// heardTo is how much of a turn was heard by a time at most.
func (t *rendered) heardTo(at time.Time) time.Duration {
	if t.started.IsZero() {
		return 0
	}
	return max(0, min(at.Sub(t.started), t.pushed))
}

// current is the turn that is being said; nil for none.
func (r *renderedTurns) current() *rendered {
	if n := len(r.all); n > 0 && !r.all[n-1].past {
		return r.all[n-1]
	}
	return nil
}

// add adds a turn that begins to be sent, which the conversation says in the place of those before.
func (r *renderedTurns) add(which id.Turn, number uint16, now time.Time) *rendered {
	r.pass(now)
	t := &rendered{id: which, number: number, began: now}
	r.all = append(r.all, t)
	return t
}

// pass notes that the conversation has gone on without the turns there are.
func (r *renderedTurns) pass(now time.Time) {
	for _, t := range r.all {
		t.past = true
		t.over(now)
	}
	r.all = slices.DeleteFunc(r.all, func(t *rendered) bool { return now.Sub(t.overAt) >= wordWithin })
	r.all = r.all[max(0, len(r.all)-mostAwaited):]
}

// cut is pass where who renders is told to be silent.
func (r *renderedTurns) cut(now time.Time) {
	for _, t := range r.all {
		t.cut = t.cut || !t.told
	}
	r.pass(now)
}

func (t *rendered) over(now time.Time) {
	if t.overAt.IsZero() {
		t.overAt = now
	}
}

// begun notes that the current turn begins to be heard, unless it did before.
func (r *renderedTurns) begun(now time.Time) {
	if t := r.current(); t != nil && t.started.IsZero() {
		t.started = now
	}
}

// loud notes that who renders is loud.
func (r *renderedTurns) loud(now time.Time) {
	r.audible = now
	r.begun(now)
}

// finished takes who renders' word that a turn is not heard any more, and answers which, and how much of it was heard; nil for none that it
// can be of. position is how far it says that it came; nil where it does not.
func (r *renderedTurns) finished(position *time.Duration, interrupted bool, now time.Time) (*rendered, time.Duration) {
	at := slices.IndexFunc(r.all, func(t *rendered) bool { return t.mayFinish(interrupted, now) })
	if at < 0 {
		return nil, 0
	}
	t := r.all[at]
	heard := t.heardTo(now)
	if position != nil {
		heard = min(*position, t.pushed)
	}
	if !t.past && !interrupted {
		heard = t.pushed
	}
	r.all = slices.Delete(r.all, at, at+1)
	return t, heard
}

// mayFinish says whether who renders' word that a turn is not heard any more can be of this one: an interruption only where it was told to be silent, and the
// end of what is current not before there was the time to hear it.
func (t *rendered) mayFinish(interrupted bool, now time.Time) bool {
	switch {
	case interrupted:
		return t.cut
	case t.past, t.told:
		return true
	}
	return t.whole && now.Sub(t.began) >= t.pushed-nearEnd
}

// fate is how the current turn goes.
type fate int

const (
	// quiet: there is none, or nothing of it was heard yet.
	quiet fate = iota
	// playing: it is heard.
	playing
	// ended: it was heard to its end, which was not said before.
	ended
	// stalled: there is more of it, and nothing is heard.
	stalled
)

// look is how the current turn goes, and how much of it was heard.
func (r *renderedTurns) look(now time.Time) (*rendered, time.Duration, fate) {
	t := r.current()
	if t == nil || t.told || t.pushed == 0 {
		return nil, 0, quiet
	}
	audible := r.audible
	if audible.Before(t.began) {
		audible = t.began
	}
	silent := now.Sub(audible)
	switch {
	case silent > beginWithin && t.heardTo(audible)+nearEnd < t.loud:
		return t, t.heardTo(now), stalled
	case t.started.IsZero():
		return t, 0, quiet
	case t.whole && now.Sub(t.started) > t.pushed+nearEnd && silent > nearEnd:
		t.told = true
		t.over(now)
		return t, t.pushed, ended
	}
	return t, t.heardTo(now), playing
}
