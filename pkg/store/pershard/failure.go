package pershard

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"visavis.dev/pkg/store/tenant"
)

// restAtMost is the longest time that a shard which fails is left alone beyond its pace.
const restAtMost = time.Second

// note takes note of how a call ended, and says how long after its end the next one is
// where it failed. That a shard does not answer is logged when it begins and when it ends;
// what else fails is logged each time.
func (s *server) note(ctx context.Context, err error) (pause time.Duration) {
	now := s.Clock.Now()
	if err == nil {
		if !s.silent.IsZero() {
			s.Log.InfoContext(ctx, "shard answers again", "work", s.Work, "shard", s.shard, "silent", now.Sub(s.silent).String())
		}
		s.failed, s.silent = 0, time.Time{}
		return 0
	}
	s.failures.WithLabelValues(s.Work, s.shard).Inc()
	first := cmp.Or(s.Retry, s.Every)
	pause = min(first<<min(s.failed, 16), max(first, restAtMost))
	s.failed++
	switch {
	case !tenant.Unavailable(err):
		s.Log.WarnContext(ctx, "failed to "+s.Work, "shard", s.shard, "error", err)
	case s.silent.IsZero():
		s.silent = now
		s.Log.WarnContext(ctx, "shard does not answer", "work", s.Work, "shard", s.shard, "error", err)
	}
	return pause
}

// failuresIn is the counter of failed calls, which all loops of a process share.
func failuresIn(registry prometheus.Registerer) *prometheus.CounterVec {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "visavis_shard_failures_total", Help: "Calls for a shard that failed, such as those that it did not answer in time, by what was to be done.",
	}, []string{"work", "shard"})
	if registry == nil {
		return counter
	}
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](registry.Register(counter)); ok {
		if existing, ok := already.ExistingCollector.(*prometheus.CounterVec); ok {
			return existing
		}
	}
	return counter
}
