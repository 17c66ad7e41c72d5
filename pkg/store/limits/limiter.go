package limits

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/lru"
)

const (
	// blockFor is how long a block of tokens should last, and how long unused
	// tokens stay with a pod.
	blockFor = 250 * time.Millisecond
	// tripTimeout bounds one trip to the table.
	tripTimeout = 2 * time.Second
	// patience is how long a request waits for a table that was away.
	patience = 50 * time.Millisecond
	// degradedFor is how long a pod counts by itself after a failed trip
	// before it tries the table again.
	degradedFor = time.Second
	// counters is how many counters a pod remembers at a time.
	counters = 100_000
)

// Options shape a Limiter.
type Options struct {
	// Pods is about how many pods share the limits; it sizes the blocks and
	// the share a pod grants itself while the tables cannot be reached.
	Pods    int64
	Clock   clock.WithTicker
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Limiter hands tokens to requests. It is safe for concurrent use.
type Limiter struct {
	table    Table
	o        Options
	counters lru.Cache[Counter, *counter]

	mu      sync.Mutex
	holding map[Counter]*counter

	trips, refused, degraded prometheus.Counter
	stop, stopped            chan struct{}
	// returns are the trips under way that give tokens back.
	returns sync.WaitGroup
}

// New makes a Limiter; Start makes it give back what is not used.
func New(t Table, o Options) *Limiter {
	known, err := lru.New[Counter, *counter](counters)
	if err != nil {
		panic(err) // only for a size below one
	}
	l := &Limiter{
		table: t, o: o, counters: known, holding: map[Counter]*counter{},
		trips:    prometheus.NewCounter(prometheus.CounterOpts{Name: "visavis_limits_trips_total", Help: "Trips to the tables of the rate limits."}),
		refused:  prometheus.NewCounter(prometheus.CounterOpts{Name: "visavis_limits_refused_total", Help: "Requests refused for a rate limit."}),
		degraded: prometheus.NewCounter(prometheus.CounterOpts{Name: "visavis_limits_degraded_total", Help: "Requests counted by this pod alone because the tables could not be reached."}),
		stop:     make(chan struct{}), stopped: make(chan struct{}),
	}
	if o.Metrics != nil {
		o.Metrics.MustRegister(l.trips, l.refused, l.degraded)
	}
	return l
}

// Reading is how a counter stands after a request.
type Reading struct {
	Limit, Remaining int64
	// Reset is how long the window lasts from now.
	Reset time.Duration
	// Refused says that the request is over the limit; it was not counted.
	Refused bool
	// Degraded says that the tables could not be reached and the pod decided alone.
	Degraded bool

	// minute is the window the request was counted in, and took what it weighs; 0 of one that was refused.
	minute, took int64
}

// Take counts one request.
func (l *Limiter) Take(ctx context.Context, k Counter, limit int64) (Reading, error) {
	return l.TakeSome(ctx, k, 1, limit)
}

// TakeSome counts a request that weighs more than one: n of a limit, or none where fewer are left. n is at least 1.
func (l *Limiter) TakeSome(ctx context.Context, k Counter, n, limit int64) (Reading, error) {
	r, err := l.take(ctx, k, n, limit)
	if r.Refused {
		l.refused.Inc()
	}
	if r.Degraded {
		l.degraded.Inc()
	}
	return r, err
}

func (l *Limiter) take(ctx context.Context, k Counter, n, limit int64) (Reading, error) {
	c := l.counter(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		now := l.o.Clock.Now()
		if r, decided := c.decide(now, n, limit, l.o.Pods); decided {
			return r, nil
		}
		if c.trip == nil {
			c.trip = make(chan struct{})
			go l.refill(k, c, limit)
		}
		ended, err := c.await(ctx, n)
		if err != nil {
			return Reading{}, err
		}
		if !ended {
			return c.decideAlone(l.o.Clock.Now(), n, limit, l.o.Pods), nil
		}
	}
}

// PutBack takes back the count of a request that another limit refused; r is
// what Take answered. The count of a window that is over is not taken back.
func (l *Limiter) PutBack(k Counter, r Reading) { l.PutBackSome(k, r, r.took) }

// PutBackSome takes back n of what a request weighed that turned out to weigh less; r is what TakeSome answered.
func (l *Limiter) PutBackSome(k Counter, r Reading, n int64) {
	c := l.counter(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !r.Degraded && r.minute == c.minute && l.o.Clock.Now().Before(c.ends) {
		c.tokens += min(n, r.took)
		c.used -= min(n, r.took)
		l.track(k, c)
	}
}

func (l *Limiter) counter(k Counter) *counter {
	if c, ok := l.counters.Get(k); ok {
		return c
	}
	fresh := &counter{since: l.o.Clock.Now()}
	if c, ok, _ := l.counters.PeekOrAdd(k, fresh); ok {
		return c
	}
	return fresh
}

// refill makes one trip for everybody who waits. It outlives the request that
// began it, since others wait for it too.
func (l *Limiter) refill(k Counter, c *counter, limit int64) {
	ctx, cancel := context.WithTimeout(context.Background(), tripTimeout)
	defer cancel()
	asked := l.o.Clock.Now()
	c.mu.Lock()
	want := c.want(asked, limit, l.o.Pods)
	c.mu.Unlock()

	l.trips.Inc()
	w, err := l.table.Take(ctx, k, want, limit)

	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.degrade(l.o.Clock.Now())
		l.o.Log.Warn("rate limits are counted by this pod alone", "error", err)
	} else {
		c.apply(w, want, limit, asked)
		if c.tokens > c.waiting {
			l.track(k, c)
		}
	}
	close(c.trip)
	c.trip = nil
}

func (l *Limiter) track(k Counter, c *counter) {
	l.mu.Lock()
	l.holding[k] = c
	l.mu.Unlock()
}

// Start begins to give back tokens that were not used in time.
func (l *Limiter) Start() { go l.run() }

// Stop gives back what is left and ends what Start began.
func (l *Limiter) Stop() {
	close(l.stop)
	<-l.stopped
}

func (l *Limiter) run() {
	defer close(l.stopped)
	ticker := l.o.Clock.NewTicker(blockFor)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
			l.giveBack(blockFor)
		case <-l.stop:
			l.giveBack(0)
			l.returns.Wait()
			return
		}
	}
}

// giveBack returns tokens that have been held for at least a while, each beside the
// others: one table that does not answer keeps those of no other.
func (l *Limiter) giveBack(heldFor time.Duration) {
	l.mu.Lock()
	holding := l.holding
	l.holding = map[Counter]*counter{}
	l.mu.Unlock()
	now := l.o.Clock.Now()
	for k, c := range holding {
		n, minute, keep := c.surrender(now, heldFor)
		if keep {
			l.track(k, c)
		}
		if n == 0 {
			continue
		}
		l.trips.Inc()
		l.returns.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), tripTimeout)
			defer cancel()
			if err := l.table.Return(ctx, k, n, minute); err != nil {
				// They stay counted until the window ends: too strict, never too lax.
				l.o.Log.Warn("failed to give unused tokens back", "tokens", n, "error", err)
			}
		})
	}
}
