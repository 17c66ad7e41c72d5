package minds

import (
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/model"
)

const (
	// maxBreakers bounds the connections whose models' breakers are remembered.
	maxBreakers = 10_000
	// failuresToOpen is how many answers in a row fail before a connection's model is left
	// alone for a while.
	failuresToOpen = 3
)

// breakers are the circuit breakers of the connections' models, of this process.
type breakers struct {
	clock clock.PassiveClock
	known lru.Cache[breakerKey, *model.Breaker]
}

// breakerKey is a connection as it was set up: after a change it is trusted anew.
type breakerKey struct {
	org        id.Org
	connection id.Connection
	settledAt  time.Time
}

func newBreakers(c clock.PassiveClock) *breakers {
	known, err := lru.New[breakerKey, *model.Breaker](maxBreakers)
	if err != nil {
		panic(err) // the size is positive
	}
	return &breakers{c, known}
}

func (b *breakers) of(o *connection.Opened) *model.Breaker {
	key := breakerKey{o.Org, o.ID, o.SettledAt.UTC()}
	if known, ok := b.known.Get(key); ok {
		return known
	}
	failures := failuresToOpen
	if o.Kind == connection.Embedding {
		failures = 1 // words are left, and each failure keeps somebody waiting
	}
	made := model.NewBreaker(failures, b.clock)
	if before, ok, _ := b.known.PeekOrAdd(key, made); ok {
		return before
	}
	return made
}
