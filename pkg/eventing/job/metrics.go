package job

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/pershard"
)

// measureEvery is how often a runner looks how long its jobs wait.
const measureEvery = 10 * time.Second

// backlog tells how long the job has waited that is due for longest, by shard and share.
// A runner of all jobs tells of either share, so that figures mean the same whoever reads.
type backlog struct {
	age *prometheus.GaugeVec

	mu     sync.Mutex
	shards []string
}

// newBacklog registers the figure; runners of one process share it.
func newBacklog(registry prometheus.Registerer) *backlog {
	age := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "visavis_job_backlog_age_seconds", Help: "How long the job that is due for longest has waited to be begun, by share: reading (of documents and pages) or rest.",
	}, []string{"shard", "share"})
	if registry != nil {
		if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](registry.Register(age)); ok {
			if existing, ok := already.ExistingCollector.(*prometheus.GaugeVec); ok {
				age = existing
			}
		}
	}
	return &backlog{age: age}
}

// parts are the shares that a share is made of.
func (s Share) parts() []Share {
	if s == Whole {
		return []Share{Reading, Rest}
	}
	return []Share{s}
}

// measure notes how long a shard's jobs have waited.
func (r *Runner) measure(ctx context.Context, b *backlog, shard string) error {
	db, err := r.Tenants.Shard(ctx, shard)
	if err != nil {
		b.forget(shard)
		return err
	}
	for _, part := range r.Share.parts() {
		now := r.now()
		oldest, err := Oldest(ctx, db, part, now)
		if err != nil {
			b.forget(shard)
			return err
		}
		age := time.Duration(0)
		if !oldest.IsZero() {
			age = now.Sub(oldest)
		}
		b.age.WithLabelValues(shard, string(part)).Set(age.Seconds())
	}
	return nil
}

// forget drops the figures of a shard of which nothing is known.
func (b *backlog) forget(shard string) { b.age.DeletePartialMatch(prometheus.Labels{"shard": shard}) }

// listed drops the figures of shards that are there no more.
func (b *backlog) listed(list pershard.Lister) pershard.Lister {
	return func(ctx context.Context) ([]string, error) {
		names, err := list(ctx)
		if err != nil {
			return names, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, shard := range b.shards {
			if !slices.Contains(names, shard) {
				b.forget(shard)
			}
		}
		b.shards = slices.Clone(names)
		return names, nil
	}
}

// watch measures every shard's jobs for as long as the runner runs.
func (r *Runner) watch() *pershard.Loop {
	b := newBacklog(r.Metrics)
	return pershard.New(pershard.Options{
		Work: "measure waiting jobs", Shards: b.listed(r.Shards), Every: measureEvery, Timeout: claimWithin, Clock: clock.RealClock{},
		Log: r.Log, Metrics: r.Metrics,
		Run: func(ctx context.Context, shard string) (next pershard.Next, err error) {
			return next, r.measure(ctx, b, shard)
		},
	})
}
