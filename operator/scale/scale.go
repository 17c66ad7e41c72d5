// Package scale says how many pods a role should have. It decides by figures alone: it
// knows neither a cluster nor a database.
package scale

import "time"

// MaxWorkers is how many workers of a shard have something to do: it has as many lanes.
const MaxWorkers = 32

// Bounds are the fewest and the most pods, and how long there must be less to do before
// one is taken away. The most is at least the fewest.
type Bounds struct {
	Min, Max int32
	Calm     time.Duration
}

func (b Bounds) clamp(n int64) int32 { return int32(min(max(n, int64(b.Min)), int64(b.Max))) }

// Calmness remembers since when a role has had less to do than its pods can; the zero
// value remembers nothing.
type Calmness struct{ since time.Time }

// lasted says whether it has been calm for long enough to take a pod away, and begins
// to count anew if so.
func (c *Calmness) lasted(calm bool, span time.Duration, now time.Time) bool {
	switch {
	case !calm:
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = now
	case now.Sub(c.since) >= span:
		c.since = now
		return true
	}
	return false
}

// Workers is how many workers there should be where there are current ones and what
// waits longest has waited for age: at once more, in proportion but at most twice as
// many, when that is beyond the target, and one fewer after it was below a quarter of
// the target for a while.
func Workers(b Bounds, current int32, age, target time.Duration, now time.Time, c *Calmness) int32 {
	b.Max = min(b.Max, MaxWorkers)
	b.Min = min(b.Min, b.Max)
	n := int64(b.clamp(int64(current)))
	if c.lasted(age < target/4, b.Calm, now) {
		n--
	}
	if age > target {
		n = min(2*n, ceil(n*age.Milliseconds(), max(target.Milliseconds(), 1)))
	}
	return b.clamp(n)
}

// Portals is how many portals there should be where there are current ones and so many
// conversations are live: at once as many as these take, and one fewer after fewer were
// enough for a while.
func Portals(b Bounds, current int32, sessions, perPod int64, now time.Time, c *Calmness) int32 {
	n, need := int64(b.clamp(int64(current))), int64(b.clamp(ceil(sessions, max(perPod, 1))))
	if c.lasted(need < n, b.Calm, now) {
		n--
	}
	return b.clamp(max(n, need))
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }
