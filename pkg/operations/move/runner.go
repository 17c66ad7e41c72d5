package move

import (
	"context"
	"sync"
	"time"
)

// Runner goes on with moves until it is stopped.
type Runner struct {
	Mover *Mover

	cancel context.CancelFunc
	group  sync.WaitGroup
}

const (
	// look is how often a process looks for a move that waits, or whose process died.
	look = 2 * time.Second
	// atOnce is how many organizations a process moves at a time.
	atOnce = 2
)

// Start begins.
func (r *Runner) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	for n := range atOnce {
		r.group.Go(func() {
			select { // not all at the same moment
			case <-time.After(time.Duration(n) * look):
				r.run(ctx)
			case <-ctx.Done():
			}
		})
	}
}

// Stop interrupts what is under way and waits for it: another process goes on.
func (r *Runner) Stop() {
	r.cancel()
	r.group.Wait()
}

func (r *Runner) run(ctx context.Context) {
	ticker := time.NewTicker(atOnce * look)
	defer ticker.Stop()
	for {
		found, err := r.Mover.Advance(ctx)
		if err != nil && ctx.Err() == nil {
			r.Mover.Log.WarnContext(ctx, "a move waits", "error", err)
		}
		if found && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
