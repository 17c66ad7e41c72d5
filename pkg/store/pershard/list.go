package pershard

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"
)

const (
	// askEvery is how often a loop asks for the list of shards.
	askEvery = time.Second
	// listEvery is how often the list is read again: a new shard is served within it.
	listEvery = 10 * time.Second
	// listAgain is how soon it is read again after that failed.
	listAgain = time.Second
	// listWithin bounds one reading of it.
	listWithin = 5 * time.Second
)

// Lister lists the names of the shards.
type Lister func(context.Context) ([]string, error)

// List is a list of shards that many loops share: it is read at most once at a time and
// as often as one loop would, and the last known one is in force while it cannot be read.
type List struct {
	fetch Lister
	clock clock.PassiveClock

	reads singleflight.Group

	mu    sync.Mutex
	names []string
	// known says that it was read, and due is when it is read again.
	known bool
	due   time.Time
}

// NewList makes a list of what fetch answers.
func NewList(fetch Lister, c clock.PassiveClock) *List {
	return &List{fetch: fetch, clock: c}
}

// Names is a Lister. It waits for a reading only while no list is known.
func (l *List) Names(ctx context.Context) ([]string, error) {
	l.mu.Lock()
	names, known, due := l.names, l.known, !l.clock.Now().Before(l.due)
	l.mu.Unlock()
	if known && !due {
		return names, nil
	}
	read := l.reads.DoChan("", func() (any, error) { return l.read() })
	if known {
		return names, nil
	}
	select {
	case r := <-read:
		names, _ = r.Val.([]string)
		return names, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read reads the list, for everybody who waits for it and those who come later.
func (l *List) read() ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listWithin)
	defer cancel()
	names, err := l.fetch(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.due = l.clock.Now().Add(listAgain)
		return nil, err
	}
	l.names, l.known, l.due = names, true, l.clock.Now().Add(listEvery)
	return names, nil
}
