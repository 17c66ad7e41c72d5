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

// Allow says whether the model may be asked. After true, Report or Abandon is to be called.
func (b *Breaker) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return true
	}
	if b.probing || b.clock.Now().Before(b.until) {
		return false
	}
	b.probing = true
	return true
}

// Closed says whether nothing speaks against the model. Nothing is to be reported for it.
func (b *Breaker) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.IsZero()
}

// Report tells what came of a call. An error that is not the service's counts as none.
// It answers whether the breaker opened by it.
func (b *Breaker) Report(err error) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probed := b.probing
	b.probing = false
	if upstream.CodeOf(err) == "" {
		b.failures, b.until, b.pause = 0, time.Time{}, firstPause
		return false
	}
	b.failures++
	switch {
	case probed:
		b.pause = min(2*b.pause, longestPause)
	case b.failures < b.most || !b.until.IsZero():
		return false
	}
	pause := b.pause
	if asked, ok := errors.AsType[*upstream.Error](err); ok {
		pause = max(pause, min(asked.RetryAfter, longestPause))
	}
	b.until = b.clock.Now().Add(pause)
	return !probed
}

// Abandon says that a call came to no verdict, as when the caller went away.
func (b *Breaker) Abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
