// Package readthrough is a bounded cache in front of a slower source: one
// load at a time for a key, entries believed for a short while, and the last
// known value served while the source cannot be reached or does not answer.
package readthrough

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/lru"
)

// Options shape a Cache.
type Options[K comparable, V any] struct {
	// Size is the largest number of entries kept.
	Size int
	// Fresh is how long an entry is believed without asking again.
	Fresh time.Duration
	// Stale is how long an entry is served after its load when the source
	// fails with an error that Outage accepts.
	Stale time.Duration
	// Patience is how long a caller waits for a source that does not answer while there
	// is an entry to serve in its place; half a second unless given. The load goes on,
	// and until one succeeds nobody waits for that key again.
	Patience time.Duration
	// Outage tells a source that cannot be reached from one that answered no.
	Outage func(error) bool
	// Load asks the source.
	Load func(ctx context.Context, key K) (V, error)
	// Name makes a string of a key, to share one load among its askers.
	Name  func(K) string
	Clock clock.PassiveClock
}

// Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	o       Options[K, V]
	entries lru.Cache[K, entry[V]]
	loads   singleflight.Group
}

type entry[V any] struct {
	value  V
	loaded time.Time
	// silent says that the source did not answer when it was asked last.
	silent bool
}

// loadTimeout bounds a shared load, which no single caller's leaving may end.
const loadTimeout = 5 * time.Second

// defaultPatience is Patience unless given.
const defaultPatience = 500 * time.Millisecond

// New makes a cache. It panics on a size below one, which is a fault of the program.
func New[K comparable, V any](o Options[K, V]) *Cache[K, V] {
	entries, err := lru.New[K, entry[V]](o.Size)
	if err != nil {
		panic(err)
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	return &Cache[K, V]{o: o, entries: entries}
}

// Get is the key's value, at most Fresh old while the source answers.
func (c *Cache[K, V]) Get(ctx context.Context, key K) (V, error) {
	e, ok := c.entries.Get(key)
	if ok && c.o.Clock.Since(e.loaded) < c.o.Fresh {
		return e.value, nil
	}
	result := c.loads.DoChan(c.o.Name(key), func() (any, error) {
		return c.load(context.WithoutCancel(ctx), key)
	})
	var tired <-chan time.Time
	if ok && c.o.Clock.Since(e.loaded) < c.o.Stale {
		if e.silent {
			return e.value, nil
		}
		timer := time.NewTimer(c.o.Patience)
		defer timer.Stop()
		tired = timer.C
	}
	select {
	case r := <-result:
		value, _ := r.Val.(V)
		return value, r.Err
	case <-tired:
		c.silence(key, e)
		return e.value, nil
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// silence notes that the source did not answer, unless it just did.
func (c *Cache[K, V]) silence(key K, e entry[V]) {
	if now, ok := c.entries.Peek(key); ok && now.loaded.Equal(e.loaded) {
		e.silent = true
		c.entries.Add(key, e)
	}
}

func (c *Cache[K, V]) load(ctx context.Context, key K) (V, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	// What the source says was true at the latest when it was asked.
	asked := c.o.Clock.Now()
	value, err := c.o.Load(ctx, key)
	if err == nil {
		c.entries.Add(key, entry[V]{value: value, loaded: asked})
		return value, nil
	}
	outage := ctx.Err() != nil || c.o.Outage(err)
	if e, ok := c.entries.Peek(key); ok {
		if outage && c.o.Clock.Since(e.loaded) < c.o.Stale {
			return e.value, nil
		}
		if !outage {
			c.entries.Remove(key)
		}
	}
	return value, err
}

// Peek is what is known of a key, however old it is, for a load that only looks
// whether it still holds.
func (c *Cache[K, V]) Peek(key K) (V, bool) {
	e, ok := c.entries.Peek(key)
	return e.value, ok
}

// Put replaces what is known of a key, as somebody better informed reports it.
func (c *Cache[K, V]) Put(key K, value V) {
	c.entries.Add(key, entry[V]{value: value, loaded: c.o.Clock.Now()})
}

// Forget drops what is known of a key.
func (c *Cache[K, V]) Forget(key K) { c.entries.Remove(key) }

// Len is the number of entries.
func (c *Cache[K, V]) Len() int { return c.entries.Len() }
