package pershard

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"visavis.dev/pkg/store/tenant"
)

// restAtMost is the longest time that a shard which fails is left alone beyond its pace.
const restAtMost = time.Second

// note takes note of how a call ended. That a shard does not answer is logged when it
// begins and when it ends; what else fails is logged each time.
func (s *server) note(ctx context.Context, err error) {
	now := s.Clock.Now()
	if err == nil {
		if !s.silent.IsZero() {
			s.Log.InfoContext(ctx, "shard answers again", "work", s.Work, "shard", s.shard, "silent", now.Sub(s.silent).String())
		}
		s.failed, s.silent = 0, time.Time{}
		return
	}
	s.failures.WithLabelValues(s.Work, s.shard).Inc()
	// The first rest is the pace itself.
	s.rest = now.Add(min(s.Every<<min(s.failed, 16), max(s.Every, restAtMost)) - s.Every)
	s.failed++
	switch {
	case !tenant.Unavailable(err):
		s.Log.WarnContext(ctx, "failed to "+s.Work, "shard", s.shard, "error", err)
	case s.silent.IsZero():
		s.silent = now
		s.Log.WarnContext(ctx, "shard does not answer", "work", s.Work, "shard", s.shard, "error", err)
	}
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
