// Package pace holds an operator to a number of requests a second. client-go's own
// limit is one for each client, and a manager has a client for each kind; this one is
// for all of them together.
package pace

import (
	"context"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// window is a second, and a little for what goes on between the permission and the wire.
const window = 1050 * time.Millisecond

// Limit is a configuration whose clients together begin at most n requests in any second.
// The others wait.
func Limit(c *rest.Config, n int) *rest.Config {
	c = rest.CopyConfig(c)
	c.QPS = -1
	p := &pace{turn: make(chan struct{}, 1), begun: make([]time.Time, n)}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &limited{p, next} })
	return c
}

// pace remembers when the last requests began.
type pace struct {
	// turn is held by whoever waits for the first place that becomes free.
	turn  chan struct{}
	begun []time.Time
	next  int
}

// wait waits until another request may begin.
func (p *pace) wait(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	if free := time.Until(p.begun[p.next].Add(window)); free > 0 {
		timer := time.NewTimer(free)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.begun[p.next] = time.Now()
	p.next = (p.next + 1) % len(p.begun)
	return nil
}

type limited struct {
	*pace
	next http.RoundTripper
}

// RoundTrip is part of http.RoundTripper.
func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := l.wait(r.Context()); err != nil {
		return nil, err
	}
	return l.next.RoundTrip(r)
}
