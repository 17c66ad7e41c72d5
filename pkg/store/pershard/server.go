package pershard

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

// leastGap is the least time from the beginning of a call to one that was asked for: hints
// come with every commit.
const leastGap = 10 * time.Millisecond

// server does the work for one shard. Between two calls it is a timer, so that many shards
// that have nothing to be done cost little.
type server struct {
	*Options
	shard    string
	failures *prometheus.CounterVec
	ctx      context.Context
	cancel   context.CancelFunc
	// group is of the goroutines of all calls.
	group *sync.WaitGroup

	mu sync.Mutex
	// running says that a goroutine calls, and woken that somebody asked for a call since
	// the last one began.
	running, woken bool
	// timer begins the next call; nil before the first, and while one is under way.
	timer clock.Timer
	// rest is until when the shard is left alone.
	rest time.Time
	// began is when the last call began.
	began time.Time

	// failed is how many calls in a row failed, and silent is since when the shard
	// does not answer; zero while it does. They are the goroutine's that calls.
	failed int
	silent time.Time
}

// end has nothing more begun, and says whether nothing is under way.
func (s *server) end() bool {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	return !s.running
}

// wait begins the next call after a while.
func (s *server) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arm(d)
}

// arm is wait; the lock is held.
func (s *server) arm(d time.Duration) {
	if s.ctx.Err() != nil {
		return
	}
	if d <= 0 {
		s.begin()
		return
	}
	// A clock that is moved by hand calls while it is locked.
	s.timer = s.Clock.AfterFunc(d, func() { go s.fire() })
}

func (s *server) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
}

// begin begins to call unless that is under way or the end has come; the lock is held.
func (s *server) begin() {
	if s.running || s.ctx.Err() != nil {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.running = true
	s.group.Go(s.run)
}

func (s *server) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.running:
		s.woken = true
	case s.Clock.Now().Before(s.rest): // the timer is for its end
	default:
		if s.timer != nil {
			s.timer.Stop()
			s.timer = nil
		}
		s.arm(s.began.Add(leastGap).Sub(s.Clock.Now()))
	}
}

// run calls until there is something to wait for.
func (s *server) run() {
	for s.ctx.Err() == nil {
		began := s.Clock.Now()
		s.mu.Lock()
		s.woken, s.began = false, began
		s.mu.Unlock()
		at, err := s.call(began)
		s.mu.Lock()
		now := s.Clock.Now()
		switch {
		case err != nil:
			s.rest = at
		case s.woken && at.After(now):
			at = began.Add(leastGap)
		}
		if at.After(now) {
			s.running = false
			s.arm(at.Sub(now))
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// call does the work once, and says when the next call is.
func (s *server) call(began time.Time) (at time.Time, err error) {
	ctx, cancel := s.ctx, context.CancelFunc(func() {})
	if s.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
	}
	defer cancel()
	next, err := s.Run(ctx, s.shard)
	if s.ctx.Err() != nil {
		return time.Time{}, nil
	}
	pause := s.note(s.ctx, err)
	switch at = began.Add(s.Every); {
	case err != nil:
		return s.Clock.Now().Add(pause), err
	case next.More:
		return began, nil
	case !next.At.IsZero() && next.At.Before(at):
		return next.At, nil
	}
	return at, nil
}
