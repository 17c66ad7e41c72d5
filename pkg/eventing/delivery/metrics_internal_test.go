package delivery

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"
)

// The last answer of a database that is away would say that all is well.
func TestABacklogThatNobodyKnowsIsNotTold(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	m := newMetrics(nil)
	c := &courier{Options: Options{Clock: clocktest.NewFakeClock(now), Log: slog.New(slog.DiscardHandler)}, metrics: m.of("a"), shard: "a"}
	c.take(poll{oldest: now.Add(-time.Minute)})
	require.InDelta(t, 60, testutil.ToFloat64(m.backlog.WithLabelValues("a")), 0)
	c.take(poll{})
	require.InDelta(t, 0, testutil.ToFloat64(m.backlog.WithLabelValues("a")), 0)
	c.take(poll{err: errors.New("away")})
	require.Zero(t, testutil.CollectAndCount(m.backlog))
	c.take(poll{oldest: now})
	require.Equal(t, 1, testutil.CollectAndCount(m.backlog))
}
