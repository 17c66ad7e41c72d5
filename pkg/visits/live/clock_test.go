package live_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/sessions/session"
)

// newClockedStage is a stage whose clock the test moves.
func newClockedStage(t *testing.T, seconds int64) (*stage, *clocktest.FakeClock) {
	t.Helper()
	s := newStage(t, seconds)
	c := clocktest.NewFakeClock(s.now())
	s.clock = c
	return s, c
}

// Whoever is in a session is told before its time is up, however short it is, and also
// where they come late.
func TestTimeLeftIsTold(t *testing.T) {
	t.Parallel()
	for _, longest := range []int64{10, 30, 59, 60, 61, 120} {
		t.Run(time.Duration(longest*int64(time.Second)).String(), func(t *testing.T) {
			s, clock := newClockedStage(t, 600)
			p := s.pod()
			defer p.Stop()
			_, c := s.visitor(p, func(w *session.Session) { w.MaxDurationS = longest })
			if longest > 60 {
				passes(t, clock, time.Duration(longest-60)*time.Second)
			}
			defer ticks(clock)()
			var notice struct {
				Kind    string
				EndsInS int64
			}
			for notice.Kind != "time_left" {
				c.await("notice", &notice)
			}
			// A timer that is set while the clock is stepped is late by that step.
			require.InDelta(t, min(longest, 60), notice.EndsInS, 2)
			passes(t, clock, time.Duration(longest)*time.Second)
			reason, _ := c.ended()
			require.Equal(t, session.MaxDuration, reason)
		})
	}
}

// ticks lets the clock go on by itself until it is stopped.
func ticks(clock *clocktest.FakeClock) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				clock.Step(time.Millisecond)
			}
		}
	}()
	return func() { close(done); <-stopped }
}

// passes lets time pass, a second after the other, and slowly enough for whoever reads the
// clock to set a timer by it before the next.
func passes(t *testing.T, clock *clocktest.FakeClock, d time.Duration) {
	t.Helper()
	require.Eventually(t, clock.HasWaiters, 20*time.Second, time.Millisecond)
	for range d / time.Second {
		clock.Step(time.Second)
		<-time.After(2 * time.Millisecond)
	}
}

// An anonymous visitor who connects and sends nothing is sent away within seconds; one
// who is there stays, and so does whoever has a key.
func TestAVisitorWhoSaysNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		visitor string
		speaks  bool
		stays   bool
	}{
		"a silent visitor":         {"one block", false, false},
		"a visitor who is there":   {"one block", true, true},
		"a silent client of a key": {"", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := newClockedStage(t, 600)
			p := s.pod()
			defer p.Stop()
			minted, client := s.visitor(p, func(w *session.Session) { w.Visitor = c.visitor })
			if c.speaks {
				client.send("client-ready", nil)
				client.await("notice", nil)
			}
			passes(t, clock, session.VisitorSpeaksWithin-time.Second)
			require.Equal(t, 1, p.Live())
			passes(t, clock, 2*time.Second)
			if c.stays {
				client.send("ping", nil)
				client.await("pong", nil)
				require.Equal(t, session.Live, s.session(minted.ID).State)
				return
			}
			reason, code := client.ended()
			require.Equal(t, []any{session.Idle, 4008}, []any{reason, code})
			require.Zero(t, s.active())
		})
	}
}
