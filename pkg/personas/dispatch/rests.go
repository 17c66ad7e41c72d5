package dispatch

import (
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
)

// Rests remembers which systems are left alone, and until when: one that hangs takes no more than a part of
// the calls that all organizations share. A connection that is settled anew is tried at once. It is safe for
// concurrent use.
type Rests struct{ until *lru.Cache[rests, time.Time] }

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
	return &Rests{until}
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
