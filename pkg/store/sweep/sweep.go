// Package sweep runs the small recurring tasks of a shard: what expired is
// deleted, and what a crashed process left is finished. Every task may run in
// several pods at once.
package sweep

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/pershard"
)

// Task is one recurring task.
type Task struct {
	Name  string
	Every time.Duration
	// Run does the task for a shard and says how many things it dealt with.
	// Tasks of the directory ignore the shard.
	Run func(ctx context.Context, shard string) (int, error)
	// Batch is how many things a run deals with at most; zero means all there
	// are. A run that dealt with so many is followed by another at once.
	Batch int
	// Directory tasks run once, not once a shard.
	Directory bool
}

// Sweeper runs tasks until it is stopped, each in its own rhythm and for each shard apart
// from the others.
type Sweeper struct {
	Tasks []Task
	// Shards lists the shards; it is asked again now and then.
	Shards func(ctx context.Context) ([]string, error)
	Clock  clock.WithDelayedExecution
	Log    *slog.Logger
	// Metrics counts what failed; nil for nowhere.
	Metrics prometheus.Registerer

	loops []*pershard.Loop
}

// runWithin bounds a run: the statements of a shard that does not answer are waited for
// no longer.
const runWithin = 2 * time.Minute

// Start begins every task, the first run at once.
func (s *Sweeper) Start() {
	for _, t := range s.Tasks {
		shards := s.Shards
		if t.Directory {
			shards = theDirectory
		}
		l := pershard.New(pershard.Options{
			Work: t.Name, Shards: shards, Every: t.Every, Timeout: runWithin, Clock: s.Clock, Log: s.Log, Metrics: s.Metrics,
			Run: func(ctx context.Context, shard string) (pershard.Next, error) { return s.run(ctx, t, shard) },
		})
		s.loops = append(s.loops, l)
		l.Start()
	}
}

// theDirectory is the one place of a task that is not for each shard.
func theDirectory(context.Context) ([]string, error) { return []string{""}, nil }

// Stop interrupts what runs and waits for it.
func (s *Sweeper) Stop() {
	var group sync.WaitGroup
	for _, l := range s.loops {
		group.Go(l.Stop)
	}
	group.Wait()
}

func (s *Sweeper) run(ctx context.Context, t Task, shard string) (pershard.Next, error) {
	n, err := t.Run(ctx, shard)
	if err == nil && n > 0 {
		s.Log.InfoContext(ctx, "task done", "task", t.Name, "shard", shard, "count", n)
	}
	return pershard.Next{More: t.Batch > 0 && n >= t.Batch}, err
}
