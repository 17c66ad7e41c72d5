package room

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that replaces somebody's track again and again has one of them heard, and all of them count together.
func TestOneTrackOfEachIsHeard(t *testing.T) {
	e := newEars()
	e.turn("kim", "", "a")
	e.turn("ida", "", "x")
	who, first := e.of("a")
	require.Equal(t, "kim", who)
	e.turn("kim", "a", "b")
	require.False(t, e.hear("a", "kim"))
	require.True(t, e.hear("b", "kim"))
	require.True(t, e.hear("x", "ida"))
	_, next := e.of("b")
	require.Same(t, first, next)
	_, others := e.of("x")
	require.NotSame(t, first, others)
	e.turn("kim", "b", "")
	require.False(t, e.hear("b", "kim"))
	who, _ = e.of("b")
	require.Empty(t, who)
}
