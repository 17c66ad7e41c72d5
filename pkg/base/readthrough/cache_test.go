package readthrough_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/readthrough"
)

var errAway, errNo = errors.New("away"), errors.New("no")

// source answers how often it was asked, or its error.
type source struct {
	asked atomic.Int64
	err   error
	gate  chan struct{}
}

func (s *source) load(ctx context.Context, _ string) (int64, error) {
	n := s.asked.Add(1)
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, nil
}

func newCache(s *source) (*readthrough.Cache[string, int64], *clocktest.FakeClock) {
	c := clocktest.NewFakeClock(time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC))
	return readthrough.New(readthrough.Options[string, int64]{
		Size: 2, Fresh: time.Second, Stale: time.Minute, Load: s.load, Clock: c,
		Outage: func(err error) bool { return errors.Is(err, errAway) }, Name: func(k string) string { return k },
	}), c
}

func TestFreshAndStale(t *testing.T) {
	s := &source{}
	c, clock := newCache(s)
	get := func(want int64, wantErr error) {
		t.Helper()
		v, err := c.Get(context.Background(), "k")
		require.ErrorIs(t, err, wantErr)
		require.Equal(t, want, v)
	}
	get(1, nil)
	clock.Step(time.Second - 1)
	get(1, nil)
	clock.Step(1)
	get(2, nil)

	s.err = errAway
	clock.Step(time.Minute - 1)
	get(2, nil)
	get(2, nil)
	require.EqualValues(t, 4, s.asked.Load(), "a source that is away is asked each time")
	clock.Step(1)
	get(0, errAway)
	s.err = nil
	get(6, nil)
	// A source that answers no is believed at once, and afterwards.
	clock.Step(time.Second)
	s.err = errNo
	get(0, errNo)
	s.err = errAway
	get(0, errAway)
}

func TestPutAndForget(t *testing.T) {
	s := &source{}
	c, _ := newCache(s)
	c.Put("k", 42)
	v, err := c.Get(context.Background(), "k")
	require.NoError(t, err)
	require.EqualValues(t, 42, v)
	c.Forget("k")
	v, err = c.Get(context.Background(), "k")
	require.NoError(t, err)
	require.EqualValues(t, 1, v)
	c.Put("l", 1)
	c.Put("m", 1)
	require.Equal(t, 2, c.Len())
}

func TestAskersShareALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{gate: make(chan struct{})}
		c, _ := newCache(s)
		ctx, cancel := context.WithCancel(context.Background())
		first := make(chan error, 1)
		go func() { _, err := c.Get(ctx, "k"); first <- err }()
		synctest.Wait()
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				v, err := c.Get(context.Background(), "k")
				if err != nil || v != 1 {
					t.Errorf("got %d, %v", v, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-first, context.Canceled, "one may leave, the others go on")
		close(s.gate)
		group.Wait()
		require.EqualValues(t, 1, s.asked.Load())
	})
}

func TestLoadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{gate: make(chan struct{})}
		c, _ := newCache(s)
		_, err := c.Get(context.Background(), "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestASourceThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		c, clock := newCache(s)
		get := func(want int64) time.Duration {
			t.Helper()
			began := time.Now()
			v, err := c.Get(t.Context(), "k")
			require.NoError(t, err)
			require.Equal(t, want, v)
			return time.Since(began)
		}
		get(1)
		clock.Step(2 * time.Second)
		s.gate = make(chan struct{})
		require.Equal(t, 500*time.Millisecond, get(1), "what was known is served in its place")
		for range 10 {
			require.Zero(t, get(1), "nobody waits for it again")
			<-time.After(time.Second)
		}
		require.Greater(t, s.asked.Load(), int64(2), "it is asked again and again meanwhile")
		close(s.gate)
		<-time.After(10 * time.Second)    // what was asked before has been given up
		_, err := c.Get(t.Context(), "k") // asks once more, where nothing is under way
		require.NoError(t, err)
		synctest.Wait()
		get(s.asked.Load())
		clock.Step(2 * time.Second)
		require.Zero(t, get(s.asked.Load()+1), "and waited for once it answers")
		s.gate = make(chan struct{})
		clock.Step(time.Minute)
		began := time.Now()
		_, err = c.Get(t.Context(), "k")
		require.ErrorIs(t, err, context.DeadlineExceeded, "what is too old is not served")
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}
