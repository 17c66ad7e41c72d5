package model_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
)

type breaker struct {
	*model.Breaker
	t *testing.T
}

// call is one that is let through.
func (b breaker) call() *model.Call {
	b.t.Helper()
	c, ok := b.Allow()
	require.True(b.t, ok)
	return c
}

func (b breaker) refuses(why string) {
	b.t.Helper()
	_, ok := b.Allow()
	require.False(b.t, ok, why)
	require.False(b.t, b.Closed(), why)
}

func newBreaker(t *testing.T, failures int) (breaker, *clocktest.FakeClock) {
	c := clocktest.NewFakeClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	return breaker{model.NewBreaker(failures, c), t}, c
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	b, c := newBreaker(t, 2)
	b.call().Report(model.ErrTimeout)
	b.call().Report(nil)
	b.call().Report(model.ErrTimeout) // they are not in a row
	late, later := b.call(), b.call()
	b.call().Report(model.ErrUnavailable)
	b.refuses("open")
	late.Report(nil)
	b.refuses("what began before says nothing of it")
	c.Step(10 * time.Second)
	probe := b.call()
	b.refuses("a single probe")
	later.Abandon()
	later.Report(model.ErrTimeout)
	b.refuses("another's end is not the probe's")
	probe.Abandon()
	b.call().Report(model.ErrTimeout) // one that came to nothing makes room for another
	c.Step(19 * time.Second)
	b.refuses("each pause is twice as long")
	c.Step(time.Second)
	b.call().Report(nil)
	require.True(t, b.Closed())
	b.call().Report(errors.New("the caller went away")) // not the service's fault
	b.call().Report(errors.New("the caller went away"))
	require.True(t, b.Closed())
}

func TestBreakerLeavesAloneForAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	b, c := newBreaker(t, 1)
	b.call().Report(&upstream.Error{Code: upstream.RateLimited, RetryAfter: time.Minute})
	c.Step(59 * time.Second)
	b.refuses("the service said for how long")
	c.Step(time.Second)
	b.call().Report(nil)
}

func TestNoBreaker(t *testing.T) {
	t.Parallel()
	var none *model.Breaker
	call, ok := none.Allow()
	require.True(t, ok && none.Closed())
	call.Report(model.ErrTimeout)
	call.Abandon()
}
