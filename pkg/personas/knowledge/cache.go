package knowledge

import (
	"container/list"
	"context"
	"sync"

	"visavis.dev/pkg/base/id"
)

// cache holds packs within a budget of bytes. Where there is none left, packs
// that no search works with make room: first those of organizations that hold
// more than their share, the longest unused first. An organization that is past
// its share makes room by its own packs alone, so that none can have everybody
// else's put out.
type cache struct {
	budget, share int64

	mu    sync.Mutex
	packs map[place]*pack
	// used are the packs, the last used in front.
	used *list.List
	// held is what the packs take, and heldBy what those of each organization do.
	held   int64
	heldBy map[id.Org]int64
	// loading has a place for each organization's one load at a time.
	loading map[id.Org]*turnstile
	// freed is closed when there may be more room than before.
	freed     chan struct{}
	evictions int64
}

// turnstile lets one through at a time, of those that count as its users.
type turnstile struct {
	open  chan struct{}
	users int
}

func newCache(budget int64) *cache {
	return &cache{
		budget: budget, share: budget / 2, packs: map[place]*pack{}, used: list.New(), heldBy: map[id.Org]int64{},
		loading: map[id.Org]*turnstile{}, freed: make(chan struct{}),
	}
}

// acquire finds a pack, or makes one to be loaded. It stays until it is released.
func (c *cache) acquire(at place) *pack {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.packs[at]
	if !ok {
		p = newPack(at)
		p.element = c.used.PushFront(p)
		c.packs[at] = p
		c.account(p, entryBytes)
	}
	c.used.MoveToFront(p.element)
	p.users++
	return p
}

func (c *cache) release(packs ...*pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range packs {
		if p.users--; p.users == 0 && p.revision.Load() < 0 {
			c.remove(p) // it was not loaded
		}
	}
	c.wakeWaiting()
}

// resize notes what a pack takes, and makes room where that is more than before.
// The error is ErrBusy, and nothing changed.
func (c *cache) resize(p *pack, bytes int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tryResize(p, bytes)
}

func (c *cache) tryResize(p *pack, bytes int64) error {
	if c.packs[p.at] != p {
		return nil // it was put out of use, and ends with its last user
	}
	more := bytes + entryBytes - p.bytes
	for more > 0 && c.held+more > c.budget {
		victim := c.victim(p.at.org, more)
		if victim == nil {
			return ErrBusy
		}
		c.remove(victim)
		c.evictions++
	}
	c.account(p, bytes+entryBytes)
	if more < 0 {
		c.wakeWaiting()
	}
	return nil
}

// widen is resize that leaves what was reserved.
func (c *cache) widen(p *pack, bytes int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tryResize(p, max(bytes, p.bytes-entryBytes))
}

// spare is resize into room that is free, and within the organization's share: nothing makes way for
// what can be done without.
func (c *cache) spare(p *pack, bytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes = max(bytes, p.bytes-entryBytes)
	more := bytes + entryBytes - p.bytes
	if c.packs[p.at] != p || c.held+more > c.budget || c.heldBy[p.at.org]+more > c.share {
		return false
	}
	c.account(p, bytes+entryBytes)
	return true
}

// reserve is resize that waits for room.
func (c *cache) reserve(ctx context.Context, p *pack, bytes int64) error {
	for {
		c.mu.Lock()
		err, freed := c.tryResize(p, bytes), c.freed
		c.mu.Unlock()
		if err == nil {
			return nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return err
		}
	}
}

// victim is the pack that makes room for more of an organization's; nil when none can.
func (c *cache) victim(org id.Org, more int64) *pack {
	past := c.heldBy[org]+more > c.share
	var last *pack
	for e := c.used.Back(); e != nil; e = e.Prev() {
		p := e.Value.(*pack)
		switch {
		case p.users > 0, past && p.at.org != org:
		case past, c.heldBy[p.at.org] > c.share:
			return p
		case last == nil:
			last = p
		}
	}
	return last
}

// drop puts a pack out of use. Its last user lets go of it.
func (c *cache) drop(p *pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(p)
	c.wakeWaiting()
}

func (c *cache) remove(p *pack) {
	if c.packs[p.at] != p {
		return
	}
	delete(c.packs, p.at)
	c.used.Remove(p.element)
	c.account(p, 0)
}

// entryBytes is what a pack takes beside its index.
const entryBytes = 1 << 10

func (c *cache) account(p *pack, bytes int64) {
	c.held += bytes - p.bytes
	if c.heldBy[p.at.org] += bytes - p.bytes; c.heldBy[p.at.org] == 0 {
		delete(c.heldBy, p.at.org)
	}
	p.bytes = bytes
}

func (c *cache) wakeWaiting() {
	close(c.freed)
	c.freed = make(chan struct{})
}

// enter waits until no other pack of the organization is loaded; leave ends that.
func (c *cache) enter(ctx context.Context, org id.Org) (leave func(), err error) {
	c.mu.Lock()
	t := c.loading[org]
	if t == nil {
		t = &turnstile{open: make(chan struct{}, 1)}
		c.loading[org] = t
	}
	t.users++
	c.mu.Unlock()
	done := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(c.loading, org)
		}
	}
	select {
	case t.open <- struct{}{}:
		return func() { <-t.open; done() }, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}

// figures are what the cache holds.
func (c *cache) figures() (packs int, bytes, most, evictions int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.heldBy {
		most = max(most, n)
	}
	return len(c.packs), c.held, most, c.evictions
}
