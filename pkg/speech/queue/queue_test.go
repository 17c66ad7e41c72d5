package queue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/speech/queue"
)

// Sound is left out beyond its bound, orders are not, and all stay in their order.
func TestQueue(t *testing.T) {
	q := queue.New[int](2)
	require.True(t, q.Sound(1))
	require.True(t, q.Order(2))
	require.True(t, q.Sound(3))
	require.False(t, q.Sound(4))
	require.True(t, q.Order(5))
	for _, want := range []int{1, 2, 3, 5} {
		<-q.Wake()
		got, ok := q.Take()
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok := q.Take()
	require.False(t, ok)
	require.True(t, q.Sound(6))
	n := 0
	for q.Order(0) {
		n++
	}
	require.Equal(t, 1024, n)
}
