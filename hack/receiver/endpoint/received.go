package endpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrClosed is what Await answers when the server was closed.
var ErrClosed = errors.New("the receiver is closed")

// Received is the latest requests of a path, refused ones too, in order.
func (s *Server) Received(path string) []Request {
	h := s.hook(path)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept.list()
}

// Count sums up a path.
func (s *Server) Count(path string) Count {
	h := s.hook(path)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// Counts sums up every path that was set, asked for or requested.
func (s *Server) Counts() map[string]Count {
	counts := map[string]Count{}
	for path := range s.hooks.Range {
		counts[path.(string)] = s.Count(path.(string))
	}
	return counts
}

// Events is how many requests of each event id a path received, without those
// refused.
func (s *Server) Events(path string) map[string]int {
	h := s.hook(path)
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.events)
}

// Await waits until n distinct events were received on a path: received, not
// yet answered. It answers the context's error or ErrClosed when that is not
// to be.
func (s *Server) Await(ctx context.Context, path string, n int) error {
	h := s.hook(path)
	arrived := h.await(n)
	var err error
	select {
	case <-arrived:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.closing:
		err = ErrClosed
	}
	h.forget(arrived)
	return fmt.Errorf("%d of %d events at %s: %w", s.Count(path).Events, n, path, err)
}

func (h *hook) await(events int) chan struct{} {
	arrived := make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count.Events >= events {
		close(arrived)
	} else {
		h.awaits = append(h.awaits, await{events, arrived})
	}
	return arrived
}

func (h *hook) forget(arrived chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.awaits = slices.DeleteFunc(h.awaits, func(a await) bool { return a.arrived == arrived })
}
