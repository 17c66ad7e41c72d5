package scale

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var begin = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const tick = 15 * time.Second

// drawn is a role at some size, whatever came before.
// calm is how long there must be less to do.
const calm = 5 * time.Minute

func drawn(t *rapid.T) (Bounds, int32) {
	lowest := rapid.Int32Range(1, 32).Draw(t, "min")
	return Bounds{lowest, rapid.Int32Range(lowest, 32).Draw(t, "max"), calm}, rapid.Int32Range(0, 64).Draw(t, "current")
}

// steady runs a role for ten hours of the same input and answers every size it had.
func steady(current int32, next func(int32, time.Time) int32) []int32 {
	var sizes []int32
	for i := range 2400 {
		current = next(current, begin.Add(time.Duration(i)*tick))
		sizes = append(sizes, current)
	}
	return sizes
}

// comesToRest checks that sizes stay within bounds, go one way only and come to rest.
func comesToRest(t *rapid.T, b Bounds, sizes []int32) {
	up, down := false, false
	for i, n := range sizes {
		require.True(t, b.Min <= n && n <= b.Max, "%d is out of %v", n, b)
		if i > 0 {
			up, down = up || n > sizes[i-1], down || n < sizes[i-1]
		}
	}
	require.False(t, up && down, "the same input, and %v", sizes)
	require.Equal(t, sizes[len(sizes)-1], sizes[len(sizes)-100], "it rests")
}

func TestWorkersComeToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, current := drawn(t)
		age := time.Duration(rapid.Int64Range(0, 7200).Draw(t, "age")) * time.Second
		target := time.Duration(rapid.Int64Range(1, 3600).Draw(t, "target")) * time.Second
		var c Calmness
		sizes := steady(current, func(n int32, now time.Time) int32 { return Workers(b, n, age, target, now, &c) })
		comesToRest(t, b, sizes)
		switch last := sizes[len(sizes)-1]; {
		case age > target:
			require.Equal(t, b.Max, last)
		case age < target/4:
			require.Equal(t, b.Min, last)
		}
		for i := 1; i < len(sizes); i++ {
			require.LessOrEqual(t, sizes[i], 2*sizes[i-1])
			require.GreaterOrEqual(t, sizes[i], sizes[i-1]-1)
		}
	})
}

func TestPortalsComeToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, current := drawn(t)
		sessions := rapid.Int64Range(0, 20_000).Draw(t, "sessions")
		perPod := rapid.Int64Range(1, 10_000).Draw(t, "per pod")
		var c Calmness
		sizes := steady(current, func(n int32, now time.Time) int32 { return Portals(b, n, sessions, perPod, now, &c) })
		comesToRest(t, b, sizes)
		last := int64(sizes[len(sizes)-1])
		require.True(t, last*perPod >= sessions || last == int64(b.Max), "they have room")
		require.True(t, (last-1)*perPod < sessions || last == int64(b.Min), "none is idle")
	})
}

func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, current := drawn(t)
		var w, p Calmness
		workers, portals, now := current, current, begin
		for range 200 {
			now = now.Add(time.Duration(rapid.Int64Range(1, 600).Draw(t, "pause")) * time.Second)
			age := time.Duration(rapid.Int64Range(0, 1000).Draw(t, "age")) * time.Second
			workers = Workers(b, workers, age, 10*time.Second, now, &w)
			portals = Portals(b, portals, rapid.Int64Range(0, 10_000).Draw(t, "sessions"), 250, now, &p)
			require.True(t, b.Min <= workers && workers <= b.Max && b.Min <= portals && portals <= b.Max)
		}
	})
}

func TestWorkersStepByStep(t *testing.T) {
	b, target, now := Bounds{1, 40, calm}, 10*time.Second, begin
	var c Calmness
	next := func(current int32, age, pause time.Duration) int32 {
		now = now.Add(pause)
		return Workers(b, current, age, target, now, &c)
	}
	require.EqualValues(t, 1, next(0, 0, tick))
	require.EqualValues(t, 2, next(1, time.Hour, tick), "it doubles at most")
	require.EqualValues(t, 6, next(4, 15*time.Second, tick), "in proportion")
	require.EqualValues(t, 32, next(32, time.Hour, tick), "there are 32 lanes")
	require.EqualValues(t, 4, next(4, 10*time.Second, tick), "at the target it stays")
	require.EqualValues(t, 4, next(4, 0, tick))
	require.EqualValues(t, 4, next(4, 0, calm-time.Second))
	require.EqualValues(t, 4, next(4, 3*time.Second, tick), "not calm: it counts anew")
	require.EqualValues(t, 4, next(4, 0, tick))
	require.EqualValues(t, 3, next(4, 0, calm))
	require.EqualValues(t, 3, next(3, 0, tick), "one at a time")
	require.EqualValues(t, 2, next(3, 0, calm))
}
