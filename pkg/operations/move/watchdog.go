package move

import (
	"context"
	"fmt"
	"time"
)

// silence ends what a run does once no shard has answered it for a while: a shard that
// accepts what it is sent and says nothing would keep it for good, and with it the place of
// a move between others.
type silence struct {
	most  time.Duration
	timer *time.Timer
	end   context.CancelFunc
}

// listen begins a silence; the context ends when it has lasted for most.
func listen(ctx context.Context, most time.Duration) (context.Context, *silence) {
	cause := fmt.Errorf("no shard answered for %v", most)
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &silence{most, time.AfterFunc(most, func() { end(cause) }), func() { end(nil) }}
}

// broken notes that a shard answered.
func (s *silence) broken() { s.timer.Reset(s.most) }

// paused lets fn wait for what is no shard.
func (s *silence) paused(fn func() error) error {
	s.timer.Stop()
	defer s.broken()
	return fn()
}

func (s *silence) stop() {
	s.timer.Stop()
	s.end()
}
