package limits_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/limits"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// start is the beginning of a minute.
var start = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

var address = limits.Counter{Holder: "192.0.2.1"}

// memory is a table that keeps its counts by a clock of the test.
type memory struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	granted map[int64]int64
	trips   int
	failing error
	// gate, when set, holds up every trip.
	gate chan struct{}
}

func newMemory(c clock.PassiveClock) *memory { return &memory{clock: c, granted: map[int64]int64{}} }

func (m *memory) Take(ctx context.Context, _ limits.Counter, want, limit int64) (limits.Window, error) {
	m.mu.Lock()
	m.trips++
	gate := m.gate
	m.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return limits.Window{}, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return limits.Window{}, m.failing
	}
	now := m.clock.Now()
	minute := now.Unix() / 60
	took := max(min(want, limit-m.granted[minute]), 0)
	m.granted[minute] += took
	return limits.Window{
		Took: took, Granted: m.granted[minute], Minute: minute, Left: time.Unix((minute+1)*60, 0).Sub(now),
	}, nil
}

func (m *memory) Return(_ context.Context, _ limits.Counter, n, minute int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.granted[minute] = max(m.granted[minute]-n, 0)
	return m.failing
}

func (m *memory) in(minute int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.granted[minute]
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.trips
}

var errAway = errors.New("the table is away")

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing = err
}

func newLimiter(table limits.Table, c clock.WithTicker, pods int64) *limits.Limiter {
	return limits.New(table, limits.Options{Pods: pods, Clock: c, Log: slog.New(slog.DiscardHandler)})
}

func take(t *testing.T, l *limits.Limiter, limit int64) limits.Reading {
	t.Helper()
	r, err := l.Take(context.Background(), address, limit)
	require.NoError(t, err)
	return r
}

// takeMany counts how many of n requests are granted.
func takeMany(t *testing.T, l *limits.Limiter, n int, limit int64) (granted int64) {
	t.Helper()
	for range n {
		if !take(t, l, limit).Refused {
			granted++
		}
	}
	return granted
}

func newClock() *clocktest.FakeClock { return clocktest.NewFakeClock(start) }
