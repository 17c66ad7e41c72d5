package voices

import (
	"context"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"visavis.dev/pkg/speech/speaker"
)

const (
	// greetingsBytes is how much sound of greetings stays in memory: that of every studio
	// voice in its own language, and of some in others.
	greetingsBytes = 16 << 20
	// greetingsKept is how many greetings that are at most.
	greetingsKept = 1024
)

// greetings keeps the sound of the studio voices' greetings, which anybody may hear: each is
// made once for all who ask, and one at a time, so that whoever asks for many leaves room for
// the requests of organizations.
type greetings struct {
	limit  int
	making chan struct{}
	flight singleflight.Group

	mu    sync.Mutex
	bytes int
	kept  *simplelru.LRU[string, []byte]
}

func newGreetings(limit int) *greetings {
	g := &greetings{limit: limit, making: make(chan struct{}, 1)}
	kept, err := simplelru.NewLRU(greetingsKept, func(_ string, sound []byte) { g.bytes -= len(sound) })
	if err != nil {
		panic(err) // only for a size below one
	}
	g.kept = kept
	return g
}

// sound is that of the greeting of a key, which say makes. Who leaves does not end what others
// wait for. The errors are say's and ctx's.
func (g *greetings) sound(ctx context.Context, key string, say func(context.Context) ([]byte, error)) ([]byte, error) {
	if sound, ok := g.get(key); ok {
		return sound, nil
	}
	flight := g.flight.DoChan(key, func() (any, error) {
		if sound, ok := g.get(key); ok {
			return sound, nil
		}
		return g.make(context.WithoutCancel(ctx), key, say)
	})
	select {
	case made := <-flight:
		sound, _ := made.Val.([]byte)
		return sound, made.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *greetings) make(ctx context.Context, key string, say func(context.Context) ([]byte, error)) ([]byte, error) {
	waiting, cancel := context.WithTimeout(ctx, waitsFor)
	defer cancel()
	select {
	case g.making <- struct{}{}:
		defer func() { <-g.making }()
	case <-waiting.Done():
		return nil, speaker.ErrBusy
	}
	made, err := say(ctx)
	if err == nil {
		g.keep(key, made)
	}
	return made, err
}

func (g *greetings) get(key string) ([]byte, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.kept.Get(key)
}

func (g *greetings) keep(key string, sound []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(sound) > g.limit {
		return
	}
	g.kept.Remove(key)
	g.kept.Add(key, sound)
	for g.bytes += len(sound); g.bytes > g.limit; {
		g.kept.RemoveOldest()
	}
}
