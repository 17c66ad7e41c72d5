package hint

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Kinds are what is to be looked for, one bit each.
type Kinds uint8

// The kinds.
const (
	// Deliveries are staged events, and deliveries that are due or will be.
	Deliveries Kinds = 1 << iota
	// Jobs are those whose next step is due or will be.
	Jobs
	// Every is all of them.
	Every = Deliveries | Jobs
)

// Rarely is about how often who relies on hints looks without one.
const Rarely = 3 * time.Second

// Hub hands hints to those who watch for them in this process, and to other processes. Its
// methods may be called at any time, by any number of goroutines, and never wait. A nil Hub
// drops every hint.
type Hub struct {
	mu sync.Mutex
	// watchers are by the shard they watch, those of any shard by its empty name.
	watchers map[string]map[*watcher]struct{}
	sender   *Sender
	complete bool
	// number tells this process's datagrams from others'.
	number uint64
	// doubted is until when hints are not relied on, in nanoseconds since 1970.
	doubted atomic.Int64
}

type watcher struct {
	kinds Kinds
	wake  func(shard string)
}

// anyShard is the name that no shard has.
const anyShard = ""

// NewHub makes a Hub that nobody watches. complete says that hints of everything that is
// committed for workers come here: from other processes too, by a Listener, or there are no
// others.
func NewHub(complete bool) *Hub {
	return &Hub{watchers: map[string]map[*watcher]struct{}{}, complete: complete, number: rand.Uint64()}
}

// Complete says whether who watches may rely on hints, which they may not for a while after
// a Miss.
func (h *Hub) Complete() bool {
	return h != nil && h.complete && time.Now().UnixNano() >= h.doubted.Load()
}

// doubtFor is for how long hints are not relied on after one did not come.
const doubtFor = 5 * time.Minute

// Miss says that something was found for which no hint came, as where the network lets none
// through or a process sends none. first says that hints were relied on until then.
func (h *Hub) Miss() (first bool) {
	now := time.Now()
	return h.doubted.Swap(now.Add(doubtFor).UnixNano()) <= now.UnixNano()
}

// SendBy has hints carried to other processes. It is called before the first one.
func (h *Hub) SendBy(s *Sender) { h.sender = s }

// Watch calls wake with the shard of each hint of some kinds until stop is called. wake must
// not wait for anything.
func (h *Hub) Watch(kinds Kinds, wake func(shard string)) (stop func()) {
	return h.watch(anyShard, &watcher{kinds, wake})
}

// WatchShard is Watch for one shard.
func (h *Hub) WatchShard(shard string, kinds Kinds, wake func()) (stop func()) {
	return h.watch(shard, &watcher{kinds, func(string) { wake() }})
}

func (h *Hub) watch(shard string, w *watcher) (stop func()) {
	if h == nil {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[shard] == nil {
		h.watchers[shard] = map[*watcher]struct{}{}
	}
	h.watchers[shard][w] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[shard], w)
		if len(h.watchers[shard]) == 0 {
			delete(h.watchers, shard)
		}
	}
}

// Hint says that something of some kinds was committed on a shard. It is called after the
// commit: who looks before finds nothing.
func (h *Hub) Hint(shard string, kinds Kinds) {
	if h == nil || kinds == 0 {
		return
	}
	h.Hear(shard, kinds)
	h.HintOthers(shard, kinds)
}

// HintOthers is Hint for other processes alone: who committed it here knows.
func (h *Hub) HintOthers(shard string, kinds Kinds) {
	if h != nil && h.sender != nil && kinds != 0 {
		h.sender.Send(shard, kinds)
	}
}

// Hear hands a hint to those who watch in this process.
func (h *Hub) Hear(shard string, kinds Kinds) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range []string{shard, anyShard} {
		for w := range h.watchers[of] {
			if w.kinds&kinds != 0 {
				w.wake(shard)
			}
		}
	}
}
