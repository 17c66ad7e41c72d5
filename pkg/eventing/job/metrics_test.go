package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
)

// waits are the figures of waiting jobs, in seconds by share.
func waits(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "visavis_job_backlog_age_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			all[m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return all
}

// How long documents wait is told apart from how long everything else does, whoever
// makes either.
func TestRunnersTellHowLongJobsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(w.one, heavy)
	w.pass(time.Minute)
	w.insert(w.two)
	w.pass(time.Second)
	for share, want := range map[job.Share]map[string]float64{
		job.Reading: {"reading": 61}, job.Rest: {"rest": 1}, job.Whole: {"reading": 61, "rest": 1},
	} {
		r, registry := w.runner(nil), prometheus.NewRegistry()
		r.Share, r.Metrics = share, registry
		require.NoError(t, r.Measure(t.Context(), "a"))
		require.Equal(t, want, waits(t, registry), "share %q", share)
		require.Error(t, r.Measure(t.Context(), "nowhere"))
		require.Equal(t, want, waits(t, registry))
	}
}

// Of a shard that is gone nothing is told, and a runner measures by itself.
func TestWaitingIsToldOfShardsThatThereAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	registry := prometheus.NewRegistry()
	r := w.runner(nil)
	r.Metrics = registry
	r.Start()
	require.Eventually(t, func() bool { return len(waits(t, registry)) == 2 }, 20*time.Second, 10*time.Millisecond)
	r.Stop()
	names := []string{"a"}
	r.Shards = func(context.Context) ([]string, error) { return names, nil }
	list := r.Listed()
	for _, left := range []int{2, 0} {
		_, err := list(t.Context())
		require.NoError(t, err)
		require.Len(t, waits(t, registry), left)
		names = nil
	}
}
