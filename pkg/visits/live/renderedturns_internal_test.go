package live

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/speech/sound"
)

// spoken are turns whose sound who renders was sent, at moments of a test.
type spoken struct {
	t *testing.T
	renderedTurns
	began time.Time
}

func (s *spoken) at(ms int) time.Time { return s.began.Add(time.Duration(ms) * time.Millisecond) }

// sends has all of a turn sent at a moment, that is so long.
func (s *spoken) sends(number uint16, at, long int) *rendered {
	t := s.add(id.NewTurn(), number, s.at(at))
	t.pushed, t.whole = time.Duration(long)*time.Millisecond, true
	t.loud = t.pushed
	return t
}

// hears has who renders be loud from one moment to another.
func (s *spoken) hears(from, to int) {
	for ms := from; ms <= to; ms += 20 {
		s.loud(s.at(ms))
	}
}

// finishes has who renders say how far a turn was heard, and requires which that is, and how much.
func (s *spoken) finishes(at int, position int, interrupted bool, of *rendered, heard int) {
	s.t.Helper()
	found, far := s.finished(new(time.Duration(position)*time.Millisecond), interrupted, s.at(at))
	require.Same(s.t, of, found)
	require.Equal(s.t, time.Duration(heard)*time.Millisecond, far)
}

func (s *spoken) fate(at int) fate {
	_, _, f := s.look(s.at(at))
	return f
}

func speaks(t *testing.T) *spoken { return &spoken{t: t, began: time.Now()} }

// What is said late of an earlier turn is no word of the next one, which goes on and can be interrupted.
func TestALateWordIsOfItsTurn(t *testing.T) {
	t.Run("heard to its end", func(t *testing.T) {
		s := speaks(t)
		one := s.sends(1, 0, 1000)
		s.hears(100, 1100)
		require.Equal(t, ended, s.fate(1600), "nobody waits for the word")
		two := s.sends(2, 1700, 3000)
		s.hears(1800, 2000)
		s.finishes(2000, 1000, false, one, 1000)
		require.Equal(t, playing, s.fate(2100))
		require.False(t, two.told)
		s.finishes(4900, 3000, false, two, 3000)
	})
	t.Run("interrupted", func(t *testing.T) {
		s := speaks(t)
		one := s.sends(1, 0, 5000)
		s.hears(100, 1000)
		s.cut(s.at(1000))
		two := s.sends(2, 4000, 3000) // longer after than a word may take
		s.hears(4100, 4500)
		s.finishes(4500, 900, true, one, 900)
		require.False(t, two.told)
		require.Equal(t, playing, s.fate(4600))
	})
	t.Run("of nothing that is known any more", func(t *testing.T) {
		s := speaks(t)
		two := s.sends(2, 0, 3000)
		s.hears(100, 500)
		found, _ := s.finished(new(900*time.Millisecond), true, s.at(500))
		require.Nil(t, found, "it was never interrupted")
		found, _ = s.finished(new(900*time.Millisecond), false, s.at(500))
		require.Nil(t, found, "it cannot have been heard to its end yet")
		require.False(t, two.told)
		s.finishes(3050, 3000, false, two, 3000)
	})
	t.Run("that never comes", func(t *testing.T) {
		s := speaks(t)
		s.sends(1, 0, 1000)
		s.hears(100, 1100)
		require.Equal(t, ended, s.fate(1600))
		two := s.sends(2, 20_000, 3000)
		s.hears(20_100, 21_000)
		s.cut(s.at(21_000))
		s.finishes(21_100, 900, true, two, 900)
	})
}

// Who renders is used where it was there before a connection was lost, called a few times, and sent out once it was given up.
func TestWhatIsDoneAboutAFace(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		face         *face
		there, shows bool
		want         faceAction
	}{
		"called first":              {&face{}, false, false, callFace},
		"another process called it": {&face{}, true, true, callFace},
		"called a moment ago":       {&face{starts: 1, again: now.Add(time.Second)}, false, false, awaitFace},
		"there before":              {&face{kept: true, starts: faceStarts, again: now.Add(time.Second)}, true, true, useFace},
		"there before, as it seems": {&face{kept: true, since: now.Add(-time.Second)}, false, false, awaitFace},
		"there before, and gone":    {&face{kept: true, since: now.Add(-time.Minute), starts: 1}, false, false, callFace},
		"given up":                  {&face{starts: faceStarts}, false, false, awaitFace},
		"given up, and there":       {&face{starts: faceStarts}, true, false, dismissFace},
		"given up, and sent out":    {&face{starts: faceStarts, again: now.Add(time.Second)}, true, true, awaitFace},
	} {
		require.Equal(t, test.want, test.face.due(now, test.there, test.shows), name)
	}
}

// A media server that sends the sound of who renders faster than anybody speaks has no more of it decoded than that.
func TestAFaceIsHeardNoFasterThanItSpeaks(t *testing.T) {
	clock := clocktest.NewFakeClock(time.Now())
	f := newFace(&liveKitSession{server: &Server{Options: Options{Clock: clock}}})
	f.become(shown)
	tone := make([]int16, 320)
	for i := range tone {
		tone[i] = int16(8000 * math.Sin(float64(i)/4))
	}
	encoder, err := sound.NewOpus(16000)
	require.NoError(t, err)
	packet, err := encoder.Encode(tone)
	require.NoError(t, err)
	heard := func() bool {
		f.turns.audible = time.Time{}
		f.hear(packet)
		return !f.turns.audible.IsZero()
	}
	require.True(t, heard())
	for range 1000 {
		heard()
	}
	require.False(t, heard())
	clock.Step(time.Second)
	require.True(t, heard())
}
