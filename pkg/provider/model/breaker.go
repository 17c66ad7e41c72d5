package model

import (
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/upstream"
)

const (
	// firstPause is how long a model is left alone when a breaker opens, and longestPause
	// what that grows to, doubling with each probe that fails.
	firstPause   = 10 * time.Second
	longestPause = 2 * time.Minute
)

// Breaker is a circuit breaker before a model. It opens after failures in a row, and lets
// nothing through for a while; then it is half open, and a single probe decides. It is
// safe for concurrent use.
type Breaker struct {
	most  int
	clock clock.PassiveClock

	mu       sync.Mutex
	failures int // in a row
	until    time.Time
	pause    time.Duration
	probing  bool
}

// NewBreaker makes a breaker that opens after so many failures in a row.
func NewBreaker(failures int, c clock.PassiveClock) *Breaker {
	return &Breaker{most: failures, clock: c, pause: firstPause}
}

// Call is one that a breaker let through. It ends with Report or Abandon. Those of a nil one
// do nothing.
type Call struct {
	breaker *Breaker
	// probe says that it alone decides whether the breaker closes.
	probe bool
}

// Allow says whether the model may be asked, and by which call. A nil breaker lets
// everything through.
func (b *Breaker) Allow() (c *Call, ok bool) {
	if b == nil {
		return nil, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return &Call{breaker: b}, true
	}
	if b.probing || b.clock.Now().Before(b.until) {
		return nil, false
	}
	b.probing = true
	return &Call{b, true}, true
}

// Closed says whether nothing speaks against the model. Nothing is to be reported for it.
func (b *Breaker) Closed() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.IsZero()
}

// Report tells what came of a call. An error that is not the service's counts as none. What
// began before the breaker opened and ends later changes nothing.
func (c *Call) Report(err error) {
	if c == nil {
		return
	}
	b := c.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.probe {
		b.probing = false
	} else if !b.until.IsZero() {
		return
	}
	if upstream.CodeOf(err) == "" {
		b.failures, b.until, b.pause = 0, time.Time{}, firstPause
		return
	}
	b.failures++
	switch {
	case c.probe:
		b.pause = min(2*b.pause, longestPause)
	case b.failures < b.most:
		return
	}
	pause := b.pause
	if asked, ok := errors.AsType[*upstream.Error](err); ok {
		pause = max(pause, min(asked.RetryAfter, longestPause))
	}
	b.until = b.clock.Now().Add(pause)
}

// Abandon says that a call came to no verdict, as when the caller went away.
func (c *Call) Abandon() {
	if c == nil || !c.probe {
		return
	}
	c.breaker.mu.Lock()
	defer c.breaker.mu.Unlock()
	c.breaker.probing = false
}
