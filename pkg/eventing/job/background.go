package job

import (
	"context"
	"fmt"
	"time"

	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for a noun: its jobs and its recurring tasks.
type Background struct {
	// Steps are what the quick kinds do, and Works the heavy ones.
	Steps map[Kind]Step
	Works map[Kind]Work
	Tasks []sweep.Task
}

// Collect puts together what nouns declare. It panics where two declare one kind or one
// name of a task.
func Collect(declared ...Background) Background {
	all := Background{Steps: map[Kind]Step{}, Works: map[Kind]Work{}}
	known := map[string]bool{}
	claim := func(what string) {
		if known[what] {
			panic(fmt.Sprintf("two nouns declare the %s", what))
		}
		known[what] = true
	}
	for _, b := range declared {
		for kind, step := range b.Steps {
			claim("job " + string(kind))
			all.Steps[kind] = step
		}
		for kind, work := range b.Works {
			claim("job " + string(kind))
			all.Works[kind] = work
		}
		for _, task := range b.Tasks {
			claim(fmt.Sprintf("task %q", task.Name))
			all.Tasks = append(all.Tasks, task)
		}
	}
	return all
}

// Tasks are the recurring tasks of jobs.
func Tasks(d sweep.Deps, files *file.Store) []sweep.Task {
	return []sweep.Task{
		{Name: "forget jobs", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
			return Sweep(ctx, d.Tenants, files, shard, d.Clock.Now())
		}},
		{Name: "delete what jobs worked from", Every: time.Minute, Batch: SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
			return SweepSources(ctx, d.Tenants, files, shard)
		}},
	}
}
