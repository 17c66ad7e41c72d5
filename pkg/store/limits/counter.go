package limits

import (
	"context"
	"sync"
	"time"
)

// counter is what a pod knows of one counter. All but mu is guarded by it.
type counter struct {
	mu sync.Mutex

	// tokens were taken from the table and not used yet, the latest at took.
	tokens int64
	took   time.Time

	// The window as the table last answered it. It ends by this pod's clock
	// no later than by the database's.
	granted, minute int64
	ends            time.Time
	// spent remembers that the table had nothing left of a limit.
	spent bool
	limit int64

	// trip is closed when the one trip under way is back; nil without one.
	trip    chan struct{}
	waiting int64

	// used counts requests since a moment, to guess how many come next.
	used  int64
	since time.Time

	// While the table cannot be reached the pod counts by itself. away says that the
	// last trip failed: nobody waits for the next one for long.
	away               bool
	degradedUntil      time.Time
	alone, aloneMinute int64
}

// decide answers a request from what is known, if that is enough.
func (c *counter) decide(now time.Time, n, limit, pods int64) (r Reading, decided bool) {
	if !now.Before(c.ends) {
		c.tokens, c.granted, c.spent = 0, 0, false
	}
	switch {
	case c.tokens >= n:
		c.tokens -= n
		c.used += n
		r = c.reading(now, limit)
		r.took = n
		return r, true
	case c.spent && limit <= c.limit: // of one that was raised since there is more
		r = c.reading(now, limit)
		r.Refused = true
		return r, true
	case now.Before(c.degradedUntil):
		return c.decideAlone(now, n, limit, pods), true
	}
	return Reading{}, false
}

func (c *counter) reading(now time.Time, limit int64) Reading {
	return Reading{
		Limit:     limit,
		Remaining: min(max(limit-c.granted+c.tokens, 0), limit),
		Reset:     c.ends.Sub(now),
		minute:    c.minute,
	}
}

// decideAlone grants this pod's share of the limit in a minute of its own clock, and what one asks
// at least.
func (c *counter) decideAlone(now time.Time, n, limit, pods int64) Reading {
	minute := now.Unix() / 60
	if minute != c.aloneMinute {
		c.aloneMinute, c.alone = minute, 0
	}
	share := max(limit/pods, n)
	r := Reading{Limit: limit, Degraded: true, Reset: time.Unix((minute+1)*60, 0).Sub(now)}
	if c.alone+n > share {
		r.Refused = true
		return r
	}
	c.alone += n
	r.Remaining = share - c.alone
	return r
}

// await waits for the trip under way, with the lock released meanwhile. It is false
// where that takes too long for a table that was away.
func (c *counter) await(ctx context.Context, n int64) (ended bool, err error) {
	trip := c.trip
	var tired <-chan time.Time
	if c.away {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		tired = timer.C
	}
	c.waiting += n
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.waiting -= n
	}()
	select {
	case <-trip:
		return true, nil
	case <-tired:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// want is how many tokens to ask for: enough for those who wait, and beyond
// that for a quarter of a second at the recent pace, but never more than a
// fair part of what is left.
func (c *counter) want(now time.Time, limit, pods int64) int64 {
	var pace int64
	if elapsed := now.Sub(c.since); elapsed > 0 {
		pace = int64(float64(c.used) * float64(blockFor) / float64(max(elapsed, blockFor/10)))
	}
	c.used, c.since = 0, now
	return max(c.waiting, min(pace, (limit-c.granted)/(2*pods)))
}

// apply takes in what the table answered to a trip that began at asked.
func (c *counter) apply(w Window, want, limit int64, asked time.Time) {
	if w.Minute != c.minute {
		c.tokens = 0
	}
	c.tokens += w.Took
	c.took = asked
	c.granted, c.minute = w.Granted, w.Minute
	c.ends = asked.Add(w.Left)
	c.spent, c.limit = w.Took < want, limit
	c.away, c.degradedUntil = false, time.Time{}
}

func (c *counter) degrade(now time.Time) {
	c.away, c.degradedUntil = true, now.Add(degradedFor)
	// A minute counted alone must not be taken for one of the table's.
	c.tokens, c.spent, c.ends = 0, false, time.Time{}
}

// surrender gives up tokens held for at least a while; keep says that some
// remain to be looked at again.
func (c *counter) surrender(now time.Time, heldFor time.Duration) (n, minute int64, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == 0 || !now.Before(c.ends) {
		return 0, 0, false
	}
	if now.Sub(c.took) < heldFor {
		return 0, 0, true
	}
	n, minute = c.tokens, c.minute
	c.tokens = 0
	c.granted -= n
	// What goes back can be taken again.
	c.spent = false
	return n, minute, false
}
