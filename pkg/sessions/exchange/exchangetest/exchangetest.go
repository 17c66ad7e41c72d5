// Package exchangetest makes up histories in which an inbox and a connected system change at random, and changes items as their teams do.
package exchangetest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

var (
	histories = flag.Int("histories", 15, "how many random histories both sides go through")
	fromSeed  = flag.Uint64("seed", 1, "the seed of the first history")
)

// Chance is what a history comes of: the same for the same seed.
type Chance struct {
	*rand.Rand
	serial int
}

// Histories runs as many as the flags say, each with a seed of its own.
func Histories(t *testing.T, run func(t *testing.T, c *Chance)) {
	t.Helper()
	for n := range *histories {
		seed := *fromSeed + uint64(n)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { run(t, &Chance{Rand: rand.New(rand.NewPCG(seed, 0))}) })
	}
}

// Word is one that nobody said before, and is part of no other.
func (c *Chance) Word(by string) string {
	c.serial++
	return fmt.Sprintf("%s%d.", by, c.serial)
}

// Pick is one of some.
func Pick[T any](c *Chance, all ...T) T { return all[c.IntN(len(all))] }

// Change changes an item.
func Change(ctx context.Context, tx *tenant.Tx, which id.InboxItem, change func(*inbox.Item), who activity.Actor) error {
	before, err := inbox.Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	after := before
	change(&after)
	_, err = inbox.Change(ctx, tx, before, after, who)
	return err
}

// Forget forgets an item's visitor.
func Forget(ctx context.Context, tx *tenant.Tx, which id.InboxItem, who activity.Actor) error {
	i, err := inbox.Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	return inbox.Forget(ctx, tx, []inbox.Item{i}, inbox.Removal{Trigger: inbox.ByTeam, At: who.At})
}
