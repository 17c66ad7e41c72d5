package telemetry_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/telemetry"
)

// sink counts the writes that reach it.
type sink struct {
	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	return s.text.Write(b)
}

func (s *sink) state() (string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.writes
}

func TestBufferGathersLines(t *testing.T) {
	var s sink
	b := telemetry.NewBuffer(&s)
	for range 3 {
		_, err := b.Write([]byte("line\n"))
		require.NoError(t, err)
	}
	require.NoError(t, b.Flush())
	text, writes := s.state()
	require.Equal(t, "line\nline\nline\n", text)
	require.Equal(t, 1, writes)
}

func TestBufferedLinesComeByThemselves(t *testing.T) {
	var s sink
	b := telemetry.NewBuffer(&s)
	for _, want := range []string{"one\n", "one\ntwo\n"} {
		_, err := b.Write([]byte(want[len(want)-4:]))
		require.NoError(t, err)
		require.Eventually(t, func() bool { text, _ := s.state(); return text == want }, 20*time.Second, 10*time.Millisecond)
	}
}
