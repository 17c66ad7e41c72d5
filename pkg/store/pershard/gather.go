package pershard

import (
	"context"
	"sync"
	"time"
)

// Answer is what one shard answered.
type Answer[T any] struct {
	Shard string
	Value T
	Err   error
}

// Gather asks all of the shards at once, each within a deadline of its own, and lists
// their answers in the order of the names. It takes as long as the slowest that answers,
// and at most the deadline, where ask heeds its context.
func Gather[T any](ctx context.Context, shards []string, within time.Duration, ask func(ctx context.Context, shard string) (T, error)) []Answer[T] {
	answers := make([]Answer[T], len(shards))
	var group sync.WaitGroup
	for i, shard := range shards {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			value, err := ask(ctx, shard)
			answers[i] = Answer[T]{Shard: shard, Value: value, Err: err}
		})
	}
	group.Wait()
	return answers
}
