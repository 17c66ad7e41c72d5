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
	// Every is the time from the beginning of one call to that of the next. A call
	// that took longer is followed by the next at once. A shard that fails is called
	// less often, down to once a second, or once in Every where that is longer.
	Every time.Duration
	// Timeout bounds a call; zero where the work bounds itself.
	Timeout time.Duration
	// Run does the work for a shard; more says that there is more to be done, so that
	// it is called again at once. It must end when its context does.
	Run   func(ctx context.Context, shard string) (more bool, err error)
	Clock clock.WithTicker
	Log   *slog.Logger
	// Metrics counts the failed calls; nil for nowhere.
	Metrics prometheus.Registerer
}

// Loop repeats work for every shard, each in a goroutine of its own, until it is
// stopped. It begins with shards that are added and ends with those that are removed.
type Loop struct {
	o        Options
	failures *prometheus.CounterVec

	cancel context.CancelFunc
	group  sync.WaitGroup
	// served are the shards that have a goroutine; the one that lists owns them.
	served map[string]*server
}

// New makes a loop.
func New(o Options) *Loop {
	return &Loop{o: o, failures: failuresIn(o.Metrics), served: map[string]*server{}}
}

// Start begins: the first call for each shard is made at once. It does not wait for any.
func (l *Loop) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	ticker := l.o.Clock.NewTicker(askEvery)
	l.group.Go(func() {
		defer ticker.Stop()
		l.follow(ctx, ticker.C())
	})
}

// Stop ends the contexts of the calls under way and waits for them.
func (l *Loop) Stop() {
	l.cancel()
	l.group.Wait()
}

// follow keeps a goroutine for each shard that there is.
func (l *Loop) follow(ctx context.Context, ticks <-chan time.Time) {
	known := true
	for {
		names, err := l.list(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			l.serve(ctx, names)
			known = true
		case known:
			known = false
			l.o.Log.WarnContext(ctx, "failed to list the shards; the last known list stays in force", "work", l.o.Work, "error", err)
		}
		select {
		case <-ticks:
		case <-ctx.Done():
			return
		}
	}
}

func (l *Loop) list(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	return l.o.Shards(ctx)
}

// serve begins with the shards that are new and ends with those that are gone. One that
// came back waits until its last call has ended, and for the next list.
func (l *Loop) serve(ctx context.Context, names []string) {
	for name, s := range l.served {
		if !slices.Contains(names, name) {
			s.cancel()
			if s.ended() {
				delete(l.served, name)
			}
		}
	}
	for _, name := range names {
		if s := l.served[name]; s != nil && !s.ended() {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		s := &server{Options: &l.o, shard: name, failures: l.failures, cancel: cancel, done: make(chan struct{})}
		l.served[name] = s
		// The ticks count from here, not from whenever the goroutine runs.
		ticker := l.o.Clock.NewTicker(l.o.Every)
		l.group.Go(func() {
			defer close(s.done)
			defer cancel()
			defer ticker.Stop()
			s.run(ctx, ticker.C())
		})
	}
}

// server does the work for one shard.
type server struct {
	*Options
	shard    string
	failures *prometheus.CounterVec
	cancel   context.CancelFunc
	done     chan struct{}
	// failed is how many calls in a row failed, and silent is since when the shard
	// does not answer; zero while it does.
	failed int
	silent time.Time
	// rest is until when the shard is left alone.
	rest time.Time
}

func (s *server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *server) run(ctx context.Context, ticks <-chan time.Time) {
	for {
		// A tick may have been as ready as the end: which one select takes is chance.
		for ctx.Err() == nil && !s.Clock.Now().Before(s.rest) && s.call(ctx) {
		}
		select {
		case <-ticks:
		case <-ctx.Done():
			return
		}
	}
}

// call does the work once, and says whether there is more.
func (s *server) call(ctx context.Context) (more bool) {
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if s.Timeout > 0 {
		bounded, cancel = context.WithTimeout(ctx, s.Timeout)
	}
	defer cancel()
	more, err := s.Run(bounded, s.shard)
	if ctx.Err() != nil {
		return false
	}
	s.note(ctx, err)
	return more && err == nil
}
