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

func TestBreaker(t *testing.T) {
	t.Parallel()
	c := clocktest.NewFakeClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	b := model.NewBreaker(2, c)
	require.True(t, b.Allow())
	require.False(t, b.Report(model.ErrTimeout), "one is none")
	require.True(t, b.Allow())
	require.False(t, b.Report(nil))
	require.True(t, b.Allow())
	require.False(t, b.Report(model.ErrTimeout), "they are in a row")
	require.True(t, b.Allow())
	require.True(t, b.Report(model.ErrUnavailable))
	require.False(t, b.Allow(), "open")
	c.Step(10 * time.Second)
	require.True(t, b.Allow(), "half open")
	require.False(t, b.Allow(), "a single probe")
	b.Abandon()
	require.True(t, b.Allow(), "one that came to nothing makes room for another")
	b.Report(model.ErrTimeout)
	c.Step(19 * time.Second)
	require.False(t, b.Allow(), "each pause is twice as long")
	c.Step(time.Second)
	require.True(t, b.Allow())
	b.Report(nil)
	require.True(t, b.Allow(), "closed")
	require.True(t, b.Allow())
	b.Report(errors.New("the caller went away"))
	require.True(t, b.Allow(), "what is not the service's fault counts as none")
}

func TestBreakerLeavesAloneForAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	c := clocktest.NewFakeClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	b := model.NewBreaker(1, c)
	require.True(t, b.Report(&upstream.Error{Code: upstream.RateLimited, RetryAfter: time.Minute}))
	c.Step(59 * time.Second)
	require.False(t, b.Allow())
	c.Step(time.Second)
	require.True(t, b.Allow())
}
