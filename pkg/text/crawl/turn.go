package crawl

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// turns gives every host one request at a time, and the pause it asked for between
// the end of one and the beginning of the next.
type turns struct {
	clock clock.Clock
	mu    sync.Mutex
	hosts map[string]*turn
}

// turn is one host. It is kept while somebody waits or its pause lasts.
type turn struct {
	token chan struct{} // holds one value while nobody has the turn
	users int           // that have the turn or wait for it
	next  time.Time     // not before
}

// take waits for the host. Whoever got the turn gives it back with done, saying
// how long the host is to be left alone.
func (t *turns) take(ctx context.Context, host string) (done func(pause time.Duration), err error) {
	h := t.join(host)
	select {
	case <-h.token:
	case <-ctx.Done():
		t.leave(h)
		return nil, ctx.Err()
	}
	if wait := h.next.Sub(t.clock.Now()); wait > 0 {
		timer := t.clock.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
			h.token <- struct{}{}
			t.leave(h)
			return nil, ctx.Err()
		}
	}
	return func(pause time.Duration) {
		h.next = t.clock.Now().Add(pause)
		h.token <- struct{}{}
		t.leave(h)
	}, nil
}

func (t *turns) join(host string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.hosts[host]
	if h == nil {
		t.forget()
		h = &turn{token: make(chan struct{}, 1)}
		h.token <- struct{}{}
		t.hosts[host] = h
	}
	h.users++
	return h
}

func (t *turns) leave(h *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.users--
}

// forget drops hosts that nobody waits for and whose pause is over.
func (t *turns) forget() {
	now := t.clock.Now()
	for name, h := range t.hosts {
		if h.users == 0 && !h.next.After(now) {
			delete(t.hosts, name)
		}
	}
}
