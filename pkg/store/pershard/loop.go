package pershard

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

// Options shape a Loop.
type Options struct {
	// Work names what is done, for logs and figures, as in "advance jobs".
	Work string
	// Shards lists the shards. It is asked every second and so answers from memory
	// (List); what it answered last is in force while it fails.
	Shards Lister
	// Every is the time from the beginning of one call to that of the next, unless Run says
	// otherwise. A call that took longer is followed by the next at once. A shard that fails
	// is called less often, down to once a second, or once in Every where that is longer.
	Every time.Duration
	// Retry is how soon a shard that failed is called again at first, where that is not
	// Every.
	Retry time.Duration
	// Spread is how much later than the one before it a shard is called at first, so that
	// many are not called at the same moments.
	Spread time.Duration
	// Timeout bounds a call; zero where the work bounds itself.
	Timeout time.Duration
	// Run does the work for a shard and says when it is called again. It must end when its
	// context does.
	Run   func(ctx context.Context, shard string) (Next, error)
	Clock clock.WithDelayedExecution
	Log   *slog.Logger
	// Metrics counts the failed calls; nil for nowhere.
	Metrics prometheus.Registerer
}

// Next is when a shard is called again; the zero one is after Every.
type Next struct {
	// More says that there is more to be done: at once.
	More bool
	// At is when something falls due, where that is before Every is over; zero where
	// nothing is known.
	At time.Time
}

// Loop repeats work for every shard, one call at a time for each and all of them side by
// side, until it is stopped. It begins with shards that are added and ends with those that
// are removed.
type Loop struct {
	o        Options
	failures *prometheus.CounterVec

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	// mu guards served, the shards that are called, which is not held while they are listed.
	mu     sync.Mutex
	served map[string]*server
}

// New makes a loop.
func New(o Options) *Loop {
	ctx, cancel := context.WithCancel(context.Background())
	return &Loop{o: o, failures: failuresIn(o.Metrics), served: map[string]*server{}, ctx: ctx, cancel: cancel}
}

// Start begins: the first call for each shard is made at once. It does not wait for any.
func (l *Loop) Start() {
	l.group.Go(l.follow)
}

// Stop ends the contexts of the calls under way and waits for them.
func (l *Loop) Stop() {
	l.cancel()
	l.mu.Lock()
	for _, s := range l.served {
		s.end() // whoever was about to begin has begun, and is waited for
	}
	l.mu.Unlock()
	l.group.Wait()
}

// Wake has a shard called at once, or once more where it is being called: what the call
// under way has looked at already may have changed since. A shard that failed is left alone
// for as long as it would be without. It does not wait.
func (l *Loop) Wake(shard string) {
	l.mu.Lock()
	s := l.served[shard]
	l.mu.Unlock()
	if s != nil {
		s.wake()
	}
}

// follow serves each shard that there is.
func (l *Loop) follow() {
	for known := true; ; {
		names, err := l.list()
		switch {
		case l.ctx.Err() != nil:
			return
		case err == nil:
			l.serve(names)
			known = true
		case known:
			known = false
			l.o.Log.WarnContext(l.ctx, "failed to list the shards; the last known list stays in force", "work", l.o.Work, "error", err)
		}
		select {
		case <-l.o.Clock.After(askEvery):
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *Loop) list() ([]string, error) {
	ctx, cancel := context.WithTimeout(l.ctx, listWithin)
	defer cancel()
	return l.o.Shards(ctx)
}

// serve begins with the shards that are new and ends with those that are gone. One that
// came back waits until its last call has ended, and for the next list.
func (l *Loop) serve(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, s := range l.served {
		if (s.ctx.Err() != nil || !slices.Contains(names, name)) && s.end() {
			delete(l.served, name)
		}
	}
	first := time.Duration(0)
	for _, name := range names {
		if l.served[name] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(l.ctx)
		s := &server{Options: &l.o, shard: name, failures: l.failures, ctx: ctx, cancel: cancel, group: &l.group}
		l.served[name] = s
		s.wait(first)
		first += l.o.Spread
	}
}
