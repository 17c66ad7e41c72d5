package knowledge

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

// keep has a loaded pack of a size in the cache.
func (c *cache) keep(org, base byte, bytes int64) error {
	p := c.acquire(place{id.Org{15: org}, id.KnowledgeBase{15: base}})
	defer c.release(p)
	if err := c.resize(p, bytes-entryBytes); err != nil {
		return err
	}
	p.revision.Store(1)
	return nil
}

func (c *cache) has(org, base byte) bool {
	_, ok := c.packs[place{id.Org{15: org}, id.KnowledgeBase{15: base}}]
	return ok
}

func TestNobodyPutsEverybodyElseOut(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	c := newCache(100 * mib)
	for org := byte(1); org <= 4; org++ {
		require.NoError(t, c.keep(org, 1, 10*mib))
	}
	// One organization searches all its packs, again and again.
	for range 3 {
		for base := byte(1); base <= 40; base++ {
			require.NoError(t, c.keep(9, base, 10*mib))
		}
	}
	for org := byte(1); org <= 4; org++ {
		require.True(t, c.has(org, 1), "organization %d", org)
	}
	require.EqualValues(t, 60*mib, c.heldBy[id.Org{15: 9}], "what nobody else needs is its own, past its share")
	// Others who come take that back first, and then what was used longest ago.
	require.NoError(t, c.keep(5, 1, 10*mib))
	require.EqualValues(t, 50*mib, c.heldBy[id.Org{15: 9}])
	require.True(t, c.has(1, 1))
	require.NoError(t, c.keep(6, 1, 10*mib))
	require.False(t, c.has(1, 1))
	require.EqualValues(t, 100*mib, c.held)
}

// What can be done without takes room that is free, and within an organization's share.
func TestNothingMakesWayForWhatCanBeDoneWithout(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	c := newCache(100 * kib)
	require.NoError(t, c.keep(1, 1, 60*kib))
	require.NoError(t, c.keep(2, 1, 20*kib))
	p := c.acquire(place{id.Org{15: 2}, id.KnowledgeBase{15: 1}})
	defer c.release(p)
	require.False(t, c.spare(p, 45*kib), "beyond what is free")
	require.True(t, c.spare(p, 30*kib))
	require.EqualValues(t, 31*kib, c.heldBy[id.Org{15: 2}])
	other := c.acquire(place{id.Org{15: 1}, id.KnowledgeBase{15: 1}})
	defer c.release(other)
	require.False(t, c.spare(other, 62*kib), "past the share")
	require.EqualValues(t, 91*kib, c.held)
	require.Zero(t, c.evictions)
	require.True(t, c.has(1, 1))
}

func TestPacksInUseStay(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	c := newCache(100 * kib)
	used := c.acquire(place{id.Org{1}, id.KnowledgeBase{1}})
	require.NoError(t, c.resize(used, 60*kib-entryBytes))
	used.revision.Store(1)
	require.ErrorIs(t, c.keep(2, 1, 50*kib), ErrBusy)
	require.EqualValues(t, 60*kib, c.held)

	// Who waits gets the room when it is let go of.
	waiting := c.acquire(place{id.Org{2}, id.KnowledgeBase{1}})
	got := make(chan error, 1)
	go func() { got <- c.reserve(context.Background(), waiting, 50*kib-entryBytes) }()
	c.release(used)
	require.NoError(t, <-got)
	require.EqualValues(t, 50*kib, c.held)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	other := c.acquire(place{id.Org{3}, id.KnowledgeBase{1}})
	require.ErrorIs(t, c.reserve(ctx, other, 60*kib-entryBytes), ErrBusy)
}

// Whatever comes, grows, shrinks and goes, what is counted is what is there, and
// the budget holds but for the entries of packs that are yet to be loaded.
func TestTheCacheCountsWhatItHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const budget = 100 << 10
		c := newCache(budget)
		var users []*pack
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at := place{id.Org{15: rapid.Byte().Draw(t, "org") % 3}, id.KnowledgeBase{15: rapid.Byte().Draw(t, "base") % 5}}
			switch n := rapid.IntRange(0, 4).Draw(t, "step"); {
			case n < 3:
				p := c.acquire(at)
				users = append(users, p)
				if c.resize(p, rapid.Int64Range(0, 70<<10).Draw(t, "bytes")) == nil {
					p.revision.Store(1)
				}
			case n == 3 && len(users) > 0:
				c.release(users[0])
				users = users[1:]
			case len(users) > 0:
				c.drop(users[0])
			}
			held, heldBy := int64(0), map[id.Org]int64{}
			for _, p := range c.packs {
				held += p.bytes
				heldBy[p.at.org] += p.bytes
			}
			require.Equal(t, held, c.held)
			require.Equal(t, heldBy, c.heldBy)
			require.Equal(t, len(c.packs), c.used.Len())
			require.LessOrEqual(t, c.held, int64(budget+15*entryBytes))
		}
	})
}
