package move

import (
	"context"
	"fmt"
	"time"
)

// watchdog cancels what a run does once no shard has answered it for a while: a shard that
// accepts what it is sent and says nothing would keep it for good, and with it the place of
// a move between others.
type watchdog struct {
	timeout time.Duration
	timer   *time.Timer
	cancel  context.CancelFunc
}

// watch starts a watchdog; the context is cancelled unless it is reset within each timeout.
func watch(ctx context.Context, timeout time.Duration) (context.Context, *watchdog) {
	cause := fmt.Errorf("no shard answered for %v", timeout)
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watchdog{timeout, time.AfterFunc(timeout, func() { cancel(cause) }), func() { cancel(nil) }}
}

// reset notes that a shard answered.
func (w *watchdog) reset() { w.timer.Reset(w.timeout) }

// suspended runs fn, which waits for no shard.
func (w *watchdog) suspended(fn func() error) error {
	w.timer.Stop()
	defer w.reset()
	return fn()
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel()
}
