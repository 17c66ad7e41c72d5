package delivery

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
)

// Options shape a Worker. Zero values mean the defaults.
type Options struct {
	Tenants  *tenant.Tenants
	Egress   *egress.Guard
	Renderer *event.Renderer
	Vault    *vault.Vault
	// Shards lists the shards to deliver for; it is asked again now and then.
	Shards  func(context.Context) ([]string, error)
	Clock   clock.WithTicker
	Log     *slog.Logger
	Metrics prometheus.Registerer
	// Lease is how long a worker's lanes stay its own after it fell silent;
	// 10 s unless given.
	Lease time.Duration
	// InFlight bounds the attempts under way on a shard; 4,096 unless given.
	InFlight int
	// Lane is the lane of its own that the worker delivers in (WebhookLane,
	// OrganizationLane); zero for the shared ones.
	Lane int64
	// Poll is how often a worker looks for what is due, where something just happened or
	// where it gets no hints; 10 ms unless given.
	Poll time.Duration
	// Hints are of what is due; nil for a worker that gets none.
	Hints *hint.Hub
	// Rarely is about how often a worker with hints looks without one; hint.Rarely unless
	// given.
	Rarely time.Duration
}

const (
	defaultLease    = 10 * time.Second
	defaultInFlight = 4096
	defaultPoll     = 10 * time.Millisecond
	// beginAgain is how soon a courier that could not begin is begun again.
	beginAgain = time.Second
)

// Worker delivers for shards until it is stopped.
type Worker struct {
	options Options
	id      uuid.UUID
	metrics *metrics

	loop *pershard.Loop
}

// New makes a worker.
func New(o Options) *Worker {
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.InFlight == 0 {
		o.InFlight = defaultInFlight
	}
	if o.Poll == 0 {
		o.Poll = defaultPoll
	}
	if o.Rarely == 0 {
		o.Rarely = hint.Rarely
	}
	return &Worker{options: o, id: uuid.New(), metrics: newMetrics(o.Metrics)}
}

// Start begins to deliver: a courier for every shard, also for those that are added later.
func (w *Worker) Start() {
	o := w.options
	w.loop = pershard.New(pershard.Options{
		Work: "deliver", Shards: o.Shards, Every: beginAgain, Clock: clock.RealClock{}, Log: o.Log, Metrics: o.Metrics,
		Run: func(ctx context.Context, shard string) (next pershard.Next, err error) {
			c, err := w.courier(ctx, shard)
			if err == nil {
				c.run(ctx)
			}
			return next, err
		},
	})
	w.loop.Start()
}

// Stop begins no more attempts, waits for those under way, writes their
// results and hands the lanes over.
func (w *Worker) Stop() { w.loop.Stop() }

func (w *Worker) courier(ctx context.Context, shard string) (*courier, error) {
	db, err := w.options.Tenants.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	return newCourier(w.options, w.metrics.of(shard), shard, db, &lanes{db, w.id, w.options.Lease, w.options.Lane}), nil
}

// Drain delivers what is due now, until nothing is, and waits for the
// results to be written. Nothing else of this worker may run. It is for tests
// that move the clock, and for tools.
func (w *Worker) Drain(ctx context.Context) error {
	names, err := w.options.Shards(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		c, err := w.courier(ctx, name)
		if err != nil {
			return err
		}
		if err := c.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}
