package delivery

import (
	"math/rand/v2"
	"time"

	"k8s.io/utils/clock"
)

// pace is when a courier looks at its shard the next time, and writes what came of attempts:
// Poll after the last time where something just happened, less and less often while attempts
// are under way and nothing comes of them, and rarely while there is nothing to do. A worker
// that hints do not reach looks as often as the first, always.
type pace struct {
	poll   time.Duration
	hinted bool
	// began is when the last look did, and left says that the one before it left something.
	began time.Time
	left  bool
	// heard is when the last hint came, and unhinted when something was found that none had
	// come for; zero where nothing was.
	heard, unhinted time.Time
	// ticked is when it looked last, and pause how long after that it does again while
	// something is under way.
	ticked time.Time
	pause  time.Duration
	// due is when something is due, as far as the last look knows; zero for never.
	due time.Time
	// rarely is the time until the next look while there is nothing to do, and about what it
	// is about.
	rarely, about time.Duration
}

const (
	// slowest is how many times Poll a courier with attempts under way waits at most.
	slowest = 10
	// passedFor is how long after passing by a log that somebody else is writing it is looked
	// at again.
	passedFor = 20 * time.Millisecond
)

// hintWithin is how long after the commit of what it is of a hint comes at the latest.
const hintWithin = 500 * time.Millisecond

// hear takes note of a hint.
func (p *pace) hear() { p.hinted, p.heard, p.unhinted = true, time.Now(), time.Time{} }

// begin takes note of a look that begins.
func (p *pace) begin() { p.hinted, p.began = false, time.Now() }

// compare takes note of a look that found what was committed since the one before it, and of
// whether a hint of that came.
func (p *pace) compare(found poll) {
	if found.numbered.Deliveries > 0 && !p.left && p.unhinted.IsZero() && p.began.Sub(p.heard) > hintWithin {
		p.unhinted = p.began
	}
	p.left = found.err != nil || found.numbering != nil || found.numbered.More || found.numbered.Passed
}

// missed says, once, that no hint came of what was found.
func (p *pace) missed() bool {
	missed := !p.unhinted.IsZero() && time.Since(p.unhinted) > hintWithin
	if missed {
		p.unhinted = time.Time{}
	}
	return missed
}

// hurry has the next look follow soon.
func (p *pace) hurry() { p.pause = p.poll }

// tick notes that it looks now.
func (p *pace) tick(now time.Time) {
	p.ticked, p.pause = now, min(2*p.pause, slowest*p.poll)
	// Not all shards, nor all workers of one, at the same moments.
	p.rarely = p.about*3/4 + rand.N(p.about/2)
}

// looked takes note of what a look found.
func (p *pace) looked(now time.Time, found poll) {
	p.compare(found)
	p.due = found.next
	again := time.Time{}
	switch {
	case found.err != nil:
		p.hinted = true // what it was of is not known
	case found.numbering != nil:
		again = now.Add(restFor)
	case found.numbered.Passed:
		again = now.Add(passedFor)
	}
	if !again.IsZero() && (p.due.IsZero() || again.Before(p.due)) {
		p.due = again
	}
}

// next is when to look.
func (c *courier) next() time.Time {
	p := &c.pace
	soon := p.ticked.Add(p.poll)
	switch {
	case !c.Hints.Complete():
		return soon
	case c.flying > 0, len(c.unwritten) > 0, len(c.ready) > 0, !c.lease.good(), time.Now().Before(c.rest):
		if p.hinted && !c.polling && c.lease.good() && time.Now().After(c.rest) {
			return soon
		}
		return p.ticked.Add(p.pause)
	case c.polling:
		return p.ticked.Add(p.rarely)
	case p.hinted:
		return soon
	}
	at := p.ticked.Add(p.rarely)
	if !p.due.IsZero() && p.due.Before(at) {
		at = p.due
	}
	if at.Before(soon) {
		return soon
	}
	return at
}

// alarm is a timer that is set again and again.
type alarm struct {
	clock clock.WithTicker
	timer clock.Timer
	at    time.Time
}

func newAlarm(c clock.WithTicker) *alarm {
	now := c.Now()
	return &alarm{clock: c, timer: c.NewTimer(0), at: now}
}

// set has the timer ring at a time.
func (a *alarm) set(at time.Time) {
	if at.Equal(a.at) {
		return
	}
	a.timer.Stop()
	select { // a ring that nobody heard
	case <-a.timer.C():
	default:
	}
	a.at = at
	a.timer.Reset(max(at.Sub(a.clock.Now()), 0))
}
