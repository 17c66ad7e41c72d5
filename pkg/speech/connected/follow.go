package connected

import (
	"math"
	"time"
)

const (
	// look is how much sound is judged at once.
	look = 10 * time.Millisecond
	// softer is by how much silence is below the loudest so far, as a factor, and hush the
	// level that is silence in any case, of full scale in 16 bits.
	softer = 0.02
	hush   = 60.0
	// stop is a silence at which the mouth closes, and rest one that is the pause of a mark:
	// a shorter one is of the word, as before a plosive.
	stop = 60 * time.Millisecond
	rest = 110 * time.Millisecond
	// markPause is a pause of the plan at which one of the sound may be.
	markPause = 100 * time.Millisecond
	// astray is how far the sound may be from its plan at a pause: so long, and such a share
	// of what was said.
	astray      = 700 * time.Millisecond
	astrayShare = 0.25
	// unpaused is how much is sounded after a mark before it had no pause.
	unpaused = 250 * time.Millisecond
	// slowing is the share of the plan at whose end it is followed ever slower, since the
	// sound goes on for as long as it does.
	slowing = 0.08
)

// follower finds where in its plan the sound of a sentence is, by where there is a voice in
// it: a pause of the sound is that of the nearest mark.
type follower struct {
	plan  *plan
	track *track
	// pace is how much faster than planned the service speaks.
	pace float64
	// at is how much of the plan was sounded, and next the word that comes.
	at   float64
	next int
	// paused is the word before which there was a pause last.
	paused int

	frame   []int16
	now     time.Duration
	loudest float64
	silent  time.Duration
	rested  bool
	// voiced is how long there was a voice.
	voiced time.Duration
}

func newFollower(p *plan, t *track, pace float64) *follower {
	return &follower{plan: p, track: t, pace: pace}
}

// hear takes the next samples.
func (f *follower) hear(samples []int16) {
	f.frame = append(f.frame, samples...)
	n := samplesOf(look)
	for len(f.frame) >= n {
		f.judge(levelOf(f.frame[:n]))
		f.frame = f.frame[n:]
	}
}

func levelOf(samples []int16) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

// judge takes the level of the next moment.
func (f *follower) judge(level float64) {
	f.loudest = max(f.loudest, level)
	if level < max(hush, softer*f.loudest) {
		f.hushed()
		return
	}
	f.silent, f.rested = 0, false
	f.voiced += look
	f.at += f.step()
	f.reach()
	f.now += look
}

// step is how much of the plan a moment with a voice is.
func (f *follower) step() float64 {
	whole := float64(f.plan.sounded())
	d := float64(look) * f.pace
	if left := whole - f.at; left < slowing*whole {
		d *= max(left, 0) / (slowing * whole)
	}
	return d
}

// hushed is a moment without a voice.
func (f *follower) hushed() {
	f.silent += look
	f.now += look
	if f.silent >= stop {
		f.track.close(f.now - f.silent)
	}
	switch {
	case f.rested:
	case f.silent < rest:
		f.at += f.step()
		f.voiced += look
	default:
		f.rested = true
		f.at -= float64(f.silent) * f.pace
		f.voiced -= f.silent
		f.pause()
	}
}

// pause puts the sound at the mark of the plan that is nearest.
func (f *follower) pause() {
	best, least := -1, float64(astray)+astrayShare*f.at
	for i := range f.plan.words[:max(len(f.plan.words)-1, 0)] {
		w := &f.plan.words[i]
		if w.pause < markPause {
			continue
		}
		if d := math.Abs(float64(w.at+w.lasts) - f.at); d < least {
			best, least = i, d
		}
	}
	if best < 0 {
		return
	}
	at := f.now - f.silent
	for ; f.next <= best; f.next++ { // what was said faster than planned
		f.track.place(&f.plan.words[f.next], at, at)
	}
	f.at = float64(f.plan.words[best+1].at) - 1 // what was begun too soon is waited for
	f.paused = best + 1
}

// reach places the words whose beginning was reached. One that comes after a mark waits for
// the pause there, but not for long.
func (f *follower) reach() {
	for f.next < len(f.plan.words) {
		w, late := &f.plan.words[f.next], time.Duration(0)
		if f.next > 0 && f.next != f.paused && f.plan.words[f.next-1].pause >= markPause {
			late = unpaused
		}
		if f.at < float64(w.at+late) {
			return
		}
		f.next++
		from := f.now - time.Duration(float64(late)/f.pace)
		f.track.place(w, from, from+time.Duration(float64(w.lasts)/f.pace))
	}
}

// end places what is left, where the sound ends.
func (f *follower) end(at time.Duration) {
	for ; f.next < len(f.plan.words); f.next++ {
		f.track.place(&f.plan.words[f.next], at, at)
	}
}

// faster is how much faster than planned the sentence was said; false where that was too
// little to tell by.
func (f *follower) faster() (pace float64, ok bool) {
	if f.voiced < time.Second {
		return 0, false
	}
	return float64(f.plan.sounded()) / float64(f.voiced), true
}
