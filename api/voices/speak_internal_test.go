package voices

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/speech/speaker"
)

// slow is a speaker that takes a while for everything, and counts what it says at once.
type slow struct {
	takes     time.Duration
	now, most atomic.Int64
}

func (s *slow) Speaks(string) bool { return true }

func (s *slow) Speak(ctx context.Context, _ speaker.Request, heard func(speaker.Chunk) error) error {
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	return heard(speaker.Chunk{Samples: make([]int16, 24)})
}

// Live conversations share the speech processes: few requests speak at once, and the others
// wait for a while and are then told to come again.
func TestFewRequestsSpeakAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		said  int
	}{"in time": {time.Second, 6}, "too slow": {4 * time.Second, 4}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{takes: test.takes}
				a := &API{Speaker: s, speaking: make(chan struct{}, atOnce)}
				v, ok := voice.FindStudio(voice.Studio()[0].ID)
				require.True(t, ok)
				failures := make(chan error, 6)
				for range cap(failures) {
					go func() {
						_, _, err := a.say(t.Context(), a.builtin(), v, "Hello.", "en", 1)
						failures <- err
					}()
				}
				said := 0
				for range cap(failures) {
					if err := <-failures; err == nil {
						said++
					} else {
						require.ErrorIs(t, err, speaker.ErrBusy)
					}
				}
				require.Equal(t, test.said, said)
				require.EqualValues(t, atOnce, s.most.Load())
			})
		})
	}
}
