// Package sweep runs the small recurring tasks of a shard: what expired is
// deleted, and what a crashed process left is finished. Every task may run in
// several pods at once.
package sweep

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"
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

// Sweeper runs tasks until it is stopped.
type Sweeper struct {
	Tasks []Task
	// Shards lists the shards at each round.
	Shards func(ctx context.Context) ([]string, error)
	Clock  clock.WithTicker
	Log    *slog.Logger

	cancel context.CancelFunc
	group  sync.WaitGroup
}

// Start begins every task, each in its own rhythm, the first run at once.
func (s *Sweeper) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	for _, t := range s.Tasks {
		s.group.Go(func() { s.run(ctx, t) })
	}
}

// Stop interrupts what runs and waits for it.
func (s *Sweeper) Stop() {
	s.cancel()
	s.group.Wait()
}

func (s *Sweeper) run(ctx context.Context, t Task) {
	ticker := s.Clock.NewTicker(t.Every)
	defer ticker.Stop()
	for {
		s.round(ctx, t)
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

func (s *Sweeper) round(ctx context.Context, t Task) {
	shards := []string{""}
	if !t.Directory {
		var err error
		if shards, err = s.Shards(ctx); err != nil {
			s.report(ctx, t, "", 0, err)
			return
		}
	}
	for _, shard := range shards {
		n, err := t.Run(ctx, shard)
		s.report(ctx, t, shard, n, err)
		for t.Batch > 0 && n >= t.Batch && err == nil && ctx.Err() == nil {
			n, err = t.Run(ctx, shard)
			s.report(ctx, t, shard, n, err)
		}
	}
}

func (s *Sweeper) report(ctx context.Context, t Task, shard string, n int, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.Log.WarnContext(ctx, "task failed", "task", t.Name, "shard", shard, "error", err)
	case n > 0:
		s.Log.InfoContext(ctx, "task done", "task", t.Name, "shard", shard, "count", n)
	}
}
