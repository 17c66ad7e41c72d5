package voices

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/speech/speaker"
)

// Anybody may ask for greetings: each is said once for all, and one at a time, so that half
// of those who speak at once are left to organizations.
func TestGreetingsAreSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said, now, most atomic.Int64
		g := newGreetings(1000)
		hear := func(ctx context.Context, key string) ([]byte, error) {
			return g.sound(ctx, key, func(context.Context) ([]byte, error) {
				said.Add(1)
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				<-time.After(time.Second)
				return []byte(key), nil
			})
		}
		impatient, leave := context.WithCancel(t.Context())
		go func() { _, _ = hear(impatient, "a") }()
		synctest.Wait()
		leave()
		for n := range 10 {
			go func() {
				key := []string{"a", "b"}[n%2]
				sound, err := hear(t.Context(), key)
				if err != nil || string(sound) != key {
					t.Errorf("%s sounds %q: %v", key, sound, err)
				}
			}()
		}
		synctest.Wait()
		_, err := hear(t.Context(), "b")
		require.NoError(t, err)
		require.EqualValues(t, 2, said.Load())
		require.EqualValues(t, 1, most.Load())
	})
}

func TestGreetingsAreBoundedInBytes(t *testing.T) {
	g, said := newGreetings(100), 0
	hear := func(key string, size int) {
		sound, err := g.sound(t.Context(), key, func(context.Context) ([]byte, error) {
			said++
			return bytes.Repeat([]byte("x"), size), nil
		})
		require.NoError(t, err)
		require.Len(t, sound, size)
		require.LessOrEqual(t, g.bytes, 100)
	}
	for n := range 10 {
		hear(fmt.Sprint(n), 40)
	}
	require.Equal(t, 80, g.bytes)
	hear("9", 40)
	require.Equal(t, 10, said, "the newest is kept")
	hear("0", 40)
	require.Equal(t, 11, said, "the oldest is not")
	hear("long", 101)
	require.Equal(t, 80, g.bytes, "what has no room displaces nothing")

	broken := errors.New("broken")
	_, err := g.sound(t.Context(), "z", func(context.Context) ([]byte, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	hear("z", 10)
}

func TestGreetingsThatWaitTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGreetings(100)
		g.making <- struct{}{}
		_, err := g.sound(t.Context(), "a", nil)
		require.ErrorIs(t, err, speaker.ErrBusy)
	})
}
