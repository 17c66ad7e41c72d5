package main

import (
	"context"
	"time"

	"visavis.dev/hack/freeport"
)

const (
	// idleFor is how long an idle worker is measured, and idleAfter how long it first has
	// for its start.
	idleFor   = 30 * time.Second
	idleAfter = 8 * time.Second
)

// resting measures what a worker takes for a shard that nothing happens on, with hints and
// without, beside what the database does by itself: that is the floor.
func resting(ctx context.Context, f *fixture) error {
	none, err := f.rest(ctx, nil)
	if err != nil {
		return err
	}
	for _, hints := range []bool{true, false} {
		name, args := "Idle/looking", []string{}
		if hints {
			address, err := freeport.Address()
			if err != nil {
				return err
			}
			name, args = "Idle/hinted", []string{"--hint-addr", address, "--hint-target", address}
		}
		w, err := f.startWorker(args...)
		if err != nil {
			return err
		}
		<-time.After(idleAfter)
		spent, err := f.rest(ctx, w)
		if err != nil {
			return err
		}
		seconds := idleFor.Seconds()
		report(name, int(seconds),
			figure{spent.commits / seconds, "transactions/s"}, figure{none.commits / seconds, "floor-transactions/s"},
			figure{100 * spent.worker / seconds, "worker-cpu-%"},
			figure{100 * spent.database / seconds, "database-cpu-%"}, figure{100 * none.database / seconds, "floor-database-cpu-%"})
		if err := w.stop(); err != nil {
			return err
		}
	}
	return nil
}

// rest is what is spent while nothing happens, by a worker if there is one.
func (f *fixture) rest(ctx context.Context, w *process) (spent cost, err error) {
	before, err := f.cost(ctx, w)
	if err != nil {
		return spent, err
	}
	<-time.After(idleFor)
	after, err := f.cost(ctx, w)
	return cost{
		commits: after.commits - before.commits, worker: after.worker - before.worker, database: after.database - before.database,
	}, err
}
