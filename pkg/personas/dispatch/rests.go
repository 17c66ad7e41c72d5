package dispatch

import (
	"errors"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
)

// Rests remembers which systems are left alone, and until when: one that hangs takes no more than a part of
// the calls that all organizations share. A connection that is settled anew is tried at once. It is safe for
// concurrent use.
type Rests struct {
	until lru.Cache[rests, time.Time]

	mu sync.Mutex
	// turns are when the next call may be made of those that take only so many.
	turns lru.Cache[rests, time.Time]
}

// rests names a connection as it was settled last.
type rests struct {
	org     id.Org
	of      id.Connection
	settled time.Time
}

const (
	// mostResting bounds the connections that are remembered.
	mostResting = 10_000
	// restFor is how many times as long as it took to fail a system is left alone.
	restFor      = 4
	shortestRest = time.Second
	longestRest  = 5 * time.Minute
)

// NewRests remembers none.
func NewRests() *Rests {
	until, err := lru.New[rests, time.Time](mostResting)
	if err != nil {
		panic(err) // the size is good
	}
	turns, err := lru.New[rests, time.Time](mostResting)
	if err != nil {
		panic(err) // likewise
	}
	return &Rests{until: until, turns: turns}
}

func nameOf(o *connection.Opened) rests { return rests{o.Org, o.ID, o.SettledAt} }

// Left is for how long yet a system is left alone; not positive where it may be called.
func (r *Rests) Left(o *connection.Opened, now time.Time) time.Duration {
	until, ok := r.until.Get(nameOf(o))
	if !ok {
		return 0
	}
	return until.Sub(now)
}

// Turn is when a system may be called that takes a call every so often: now, or the next moment that nobody
// else has; zero pace for as they come. Who comes back at theirs, zero for none, may call.
func (r *Rests) Turn(o *connection.Opened, now time.Time, pace time.Duration, theirs time.Time) time.Time {
	if pace == 0 || !theirs.IsZero() && !theirs.After(now) {
		return now
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next, _ := r.turns.Get(nameOf(o))
	if next.Before(now) {
		next = now
	}
	r.turns.Add(nameOf(o), next.Add(pace))
	return next
}

// After notes how calling a system went, by an error that may be an upstream.Error.
func (r *Rests) After(o *connection.Opened, began, ended time.Time, err error) {
	failed, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return
	}
	switch failed.Code {
	case upstream.RateLimited, upstream.Timeout, upstream.Unavailable, upstream.Truncated:
	default:
		return
	}
	if rest := max(failed.RetryAfter, min(restFor*ended.Sub(began), longestRest)); rest >= shortestRest {
		r.until.Add(nameOf(o), ended.Add(rest))
	}
}
