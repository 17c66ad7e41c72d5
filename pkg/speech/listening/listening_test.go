package listening_test

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/listening"
	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/vad"
)

func TestMain(m *testing.M) { os.Exit(espeaktest.Tests{M: m}.Run()) }

// said is a sentence as a microphone hears it.
func said(t *testing.T, text string) []int16 {
	t.Helper()
	pool := espeaktest.Open(t, espeak.Options{})
	var all []int16
	require.NoError(t, pool.Speak(context.Background(), speaker.Request{Text: text, Language: "en", Voice: "owen"}, func(c speaker.Chunk) error {
		all = append(all, c.Samples...)
		return nil
	}))
	return soundtest.Downsample(nil, all)
}

// counter is a recognizer that understands how much it was sent.
type counter struct {
	told     func(recognition.Result)
	segment  int
	samples  int
	language string
	segments []time.Duration
	// busy is awaited before sound is taken.
	busy chan struct{}
}

func (c *counter) Open(told func(recognition.Result)) recognition.Ear {
	c.told = told
	return c
}

func (c *counter) Begin(segment int, language string) {
	c.segment, c.samples, c.language = segment, 0, language
}
func (c *counter) Write(samples []int16) {
	if c.busy != nil {
		<-c.busy
	}
	c.samples += len(samples)
}

func (c *counter) End() {
	c.segments = append(c.segments, time.Duration(c.samples)*time.Second/recognition.SampleRate)
	c.told(recognition.Result{Segment: c.segment, Text: "something", Whole: true})
}
func (c *counter) Close() {}

// microphone sends sound as time passes.
type microphone struct {
	*listening.Listener
	t     *testing.T
	c     *counter
	noise *rand.Rand

	mu  sync.Mutex
	all []listening.Event
	at  []time.Duration
}

// listen runs a script with a microphone, where time passes by itself.
func listen(t *testing.T, o listening.Options, script func(*microphone)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &microphone{t: t, c: &counter{}, noise: rand.New(rand.NewPCG(1, 2))}
		began := time.Now()
		o.Recognizer, o.Clock, o.Language = m.c, clock.RealClock{}, func() string { return "de" }
		o.Told = func(e listening.Event) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.all = append(m.all, e)
			m.at = append(m.at, time.Since(began)-e.Ago)
		}
		m.Listener = listening.New(o)
		defer m.Close()
		script(m)
	})
}

// send sends samples with the noise of a room, in frames.
func (m *microphone) send(samples []int16) {
	for len(samples) > 0 {
		frame := make([]int16, vad.FrameSamples)
		n := copy(frame, samples)
		samples = samples[n:]
		for i := range frame {
			frame[i] += int16(30 * m.noise.NormFloat64())
		}
		m.Hear(frame)
		<-time.After(vad.Frame)
	}
}

func (m *microphone) silence(d time.Duration) {
	m.send(make([]int16, int(d.Seconds()*listening.SampleRate)))
}

func (m *microphone) kinds() (kinds []listening.Kind) {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// A sentence is a segment with what came just before it; its beginning and its end are told
// as they were.
func TestSentence(t *testing.T) {
	sentence := said(t, "When do you open?")
	lasts := time.Duration(len(sentence)) * time.Second / listening.SampleRate
	listen(t, listening.Options{}, func(m *microphone) {
		m.silence(time.Second)
		m.send(sentence)
		m.silence(time.Second)
		require.Equal(t, []listening.Kind{listening.Began, listening.Ended, listening.Words}, m.kinds())
		require.InDelta(t, time.Second, m.at[0], float64(120*time.Millisecond))
		require.InDelta(t, time.Second+lasts, m.at[1], float64(200*time.Millisecond))
		require.Equal(t, listening.Event{Kind: listening.Words, Segment: 1, Text: "something", Whole: true}, m.all[2])
		require.Equal(t, "de", m.c.language)
		require.Len(t, m.c.segments, 1)
		require.InDelta(t, lasts+600*time.Millisecond, m.c.segments[0], float64(300*time.Millisecond))
	})
}

// A pause that is shorter than a segment's ends the voice and not the segment.
func TestPauseWithinASegment(t *testing.T) {
	sentence := said(t, "When do you open?")
	listen(t, listening.Options{Pause: 800 * time.Millisecond}, func(m *microphone) {
		m.silence(time.Second)
		m.send(sentence)
		m.silence(500 * time.Millisecond)
		m.send(sentence)
		m.silence(2 * time.Second)
		require.Equal(t, []listening.Kind{listening.Began, listening.Ended, listening.Began, listening.Ended, listening.Words}, m.kinds())
		require.Equal(t, 1, m.all[4].Segment)
	})
}

// A microphone that is turned off while somebody speaks, or that goes silent, ends what is
// said.
func TestReleased(t *testing.T) {
	sentence := said(t, "When do you open?")
	for _, tells := range []bool{true, false} {
		listen(t, listening.Options{}, func(m *microphone) {
			m.silence(time.Second)
			m.send(sentence[:8000])
			if tells {
				m.Release()
			} else {
				<-time.After(2 * time.Second)
			}
			require.Equal(t, []listening.Kind{listening.Began, listening.Ended, listening.Words}, m.kinds())
			m.silence(time.Second)
			m.send(sentence)
			m.silence(time.Second)
			require.Len(t, m.kinds(), 6)
		})
	}
}

// With a button what is said is what is sent while it is held, whatever it sounds like.
func TestPressed(t *testing.T) {
	listen(t, listening.Options{Pressed: true}, func(m *microphone) {
		m.silence(time.Second)
		require.Empty(t, m.kinds())
		m.Press()
		m.silence(time.Second)
		m.Release()
		m.silence(time.Second)
		require.Equal(t, []listening.Kind{listening.Began, listening.Ended, listening.Words}, m.kinds())
		require.Equal(t, []time.Duration{time.Second}, m.c.segments)
		m.Press()
		m.Release()
		require.Len(t, m.kinds(), 6, "also where nothing came")
		require.Len(t, m.c.segments, 1, "of which nobody is asked")
	})
}

// No more is recognized than a session may have, and sound that comes faster than time is
// left out.
func TestBounds(t *testing.T) {
	sentence := said(t, "When do you open?")
	listen(t, listening.Options{Most: 3 * time.Second}, func(m *microphone) {
		for range 5 {
			m.silence(time.Second)
			m.send(sentence)
		}
		m.silence(time.Second)
		failed := 0
		for _, e := range m.all {
			if e.Kind == listening.Failed {
				require.ErrorIs(t, e.Err, listening.ErrTooMuch)
				failed++
			}
		}
		require.Equal(t, 1, failed, "it is said once")
		require.Len(t, m.c.segments, 2)
	})
	listen(t, listening.Options{Pressed: true}, func(m *microphone) {
		m.Press()
		for range 100 {
			m.Hear(make([]int16, listening.SampleRate))
			synctest.Wait()
		}
		m.Release()
		synctest.Wait()
		require.Equal(t, []time.Duration{4 * time.Second}, m.c.segments)
	})
}

// Somebody who never stops is recognized piece by piece.
func TestLongSpeech(t *testing.T) {
	sentence := said(t, "The orangery was built by two sisters who had brought lemon trees from the south")
	for len(sentence) < 40*listening.SampleRate {
		sentence = append(sentence, sentence...)
	}
	listen(t, listening.Options{Pause: 2 * time.Second}, func(m *microphone) {
		m.silence(time.Second)
		m.send(sentence[:40*listening.SampleRate])
		m.silence(3 * time.Second)
		require.Len(t, m.c.segments, 2)
		require.InDelta(t, 28*time.Second, m.c.segments[0], float64(100*time.Millisecond))
		m.eachBegan()
	})
	listen(t, listening.Options{Pressed: true}, func(m *microphone) {
		m.Press()
		m.silence(40 * time.Second)
		m.Release()
		require.Equal(t, []listening.Kind{listening.Began, listening.Words, listening.Began, listening.Ended, listening.Words}, m.kinds())
		require.Equal(t, []time.Duration{28 * time.Second, 12 * time.Second}, m.c.segments)
		m.eachBegan()
	})
	listen(t, listening.Options{Pressed: true, Most: 20 * time.Second}, func(m *microphone) {
		m.Press()
		m.silence(30 * time.Second)
		require.Equal(t, []listening.Kind{listening.Began, listening.Words, listening.Failed, listening.Ended}, m.kinds())
	})
}

// eachBegan checks that words are of segments that were told to begin.
func (m *microphone) eachBegan() {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	began := map[int]bool{}
	for _, e := range m.all {
		if e.Kind == listening.Began {
			began[e.Segment] = true
		}
		if e.Kind == listening.Words {
			require.True(m.t, began[e.Segment], "segment %d", e.Segment)
		}
	}
}

// Orders that wait behind too much sound keep their order.
func TestOrdersKeepTheirOrder(t *testing.T) {
	for range 20 {
		listen(t, listening.Options{Pressed: true}, func(m *microphone) {
			busy := make(chan struct{})
			m.c.busy = busy
			m.Press()
			m.Hear(make([]int16, vad.FrameSamples))
			synctest.Wait()
			for range 200 {
				m.Hear(make([]int16, vad.FrameSamples))
			}
			m.Release()
			for range 5 {
				m.Press()
				m.Release()
			}
			synctest.Wait()
			close(busy)
			require.Len(t, m.kinds(), 6*3)
		})
	}
}
