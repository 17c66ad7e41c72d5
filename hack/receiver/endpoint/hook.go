package endpoint

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Request is one that was received whole.
type Request struct {
	// At is when its last byte was read.
	At     time.Time
	Path   string
	Header http.Header
	// Body is as it was sent.
	Body []byte
	// Verified tells that there is a secret and all receiver rules are kept.
	Verified bool
	// Why says which rule a request broke that was refused.
	Why string
	// EventID and Type are the body's own, DeliveryID the header's.
	EventID, DeliveryID, Type string
}

// Count sums up the requests of a path.
type Count struct {
	Requests int `json:"requests"`
	// Verified and Unverified are those that were checked: none without a
	// secret. Those unverified count for no event.
	Verified   int `json:"verified"`
	Unverified int `json:"unverified"`
	// Events are distinct event ids, Repeats the requests beyond the first of
	// each.
	Events  int `json:"events"`
	Repeats int `json:"repeats"`
}

// hook is one path: how it behaves and what it received.
type hook struct {
	behaviour atomic.Pointer[Behaviour]

	mu     sync.Mutex
	count  Count
	events map[string]int // event id → requests
	kept   ring
	awaits []await
}

// await is a channel to close when there are so many distinct events.
type await struct {
	events  int
	arrived chan struct{}
}

// turn is a request's number among those not refused, from 1.
type turn struct{ ofPath, ofEvent int }

// hook finds a path, or begins it.
func (s *Server) hook(path string) *hook {
	if found, ok := s.hooks.Load(path); ok {
		return found.(*hook)
	}
	fresh := &hook{events: map[string]int{}}
	fresh.behaviour.Store(&s.options.Default)
	if !s.options.CountOnly {
		fresh.kept.room = s.options.Keep
	}
	h, _ := s.hooks.LoadOrStore(path, fresh)
	return h.(*hook)
}

func (h *hook) record(r Request) turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept.add(r)
	h.count.Requests++
	switch {
	case r.Why != "":
		h.count.Unverified++
		return turn{}
	case r.Verified:
		h.count.Verified++
	}
	t := turn{ofPath: h.count.Requests - h.count.Unverified, ofEvent: 1}
	if r.EventID == "" {
		return t
	}
	t.ofEvent += h.events[r.EventID]
	h.events[r.EventID] = t.ofEvent
	if t.ofEvent > 1 {
		h.count.Repeats++
		return t
	}
	h.count.Events++
	h.awaits = slices.DeleteFunc(h.awaits, func(a await) bool {
		if h.count.Events < a.events {
			return false
		}
		close(a.arrived)
		return true
	})
	return t
}

// ring keeps the latest requests.
type ring struct {
	room, oldest int
	all          []Request
}

func (k *ring) add(r Request) {
	switch {
	case k.room == 0:
	case len(k.all) < k.room:
		k.all = append(k.all, r)
	default:
		k.all[k.oldest] = r
		k.oldest = (k.oldest + 1) % k.room
	}
}

func (k *ring) list() []Request { return slices.Concat(k.all[k.oldest:], k.all[:k.oldest]) }
