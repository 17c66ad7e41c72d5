package playout_test

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/thesyncim/gopus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/speaker"
)

// hum says every word as a tone of 400 ms, in pieces of 50 ms. A sentence of "…" breaks
// off after its first piece; "wait" stands still after it until it is told to go on.
type hum struct{ goOn chan struct{} }

func (hum) Speaks(string) bool { return true }

func (h hum) Speak(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	at, samples := int64(0), 0
	for i, word := range strings.Fields(r.Text) {
		from := strings.Index(r.Text, word)
		for n := range 8 {
			c := speaker.Chunk{Samples: make([]int16, speaker.SampleRate/20)}
			for j := range c.Samples {
				c.Samples[j] = int16(8000 * math.Sin(float64(samples)*2*math.Pi*220/speaker.SampleRate))
				samples++
			}
			if n == 0 {
				c.Visemes = []speaker.Viseme{{AtMs: at, Shape: "aa", Weight: 1}}
				if i > 0 {
					c.Words = []speaker.Word{{AtMs: at - 400, LastsMs: 400, From: 0, To: from - 1}}
				}
			}
			if err := heard(c); err != nil {
				return err
			}
			switch word {
			case "…":
				return errors.New("it broke off")
			case "wait":
				select {
				case <-h.goOn:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		at += 400
	}
	return heard(speaker.Chunk{Words: []speaker.Word{{AtMs: at - 400, LastsMs: 400, From: 0, To: len(r.Text)}}})
}

// sent is something that the client was sent, and when.
type sent struct {
	at       time.Duration
	announce id.Turn
	stream   uint16
	visemes  []speaker.Viseme
	frame    []byte
	t        time.Duration
	last     bool
	stopped  *atomic.Bool
}

// listener is the client, and hears of the progress.
type listener struct {
	mu       sync.Mutex
	began    time.Time
	all      []sent
	progress []playout.Progress
}

func (l *listener) add(s sent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.at = time.Since(l.began)
	l.all = append(l.all, s)
}

func (l *listener) Announce(turn id.Turn, stream uint16) { l.add(sent{announce: turn, stream: stream}) }
func (l *listener) Visemes(_ id.Turn, items []speaker.Viseme) {
	l.add(sent{visemes: append([]speaker.Viseme(nil), items...)})
}

func (l *listener) Frame(frame []byte, _ playout.Format, stopped *atomic.Bool) {
	l.add(sent{
		frame: frame[playout.HeaderBytes:], stream: binary.BigEndian.Uint16(frame[2:]), last: frame[1]&1 == 1,
		t: time.Duration(binary.BigEndian.Uint32(frame[4:])) * time.Millisecond, stopped: stopped,
	})
}

func (l *listener) Backlog() int { return 0 }

// frames are those that were sent, of which there are at least some.
func (l *listener) frames() []sent {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []sent
	for _, s := range l.all {
		if s.stopped != nil {
			out = append(out, s)
		}
	}
	return out
}

// whole are the ends of the sentences that were told of.
func (l *listener) whole() []playout.Progress {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []playout.Progress
	for _, p := range l.progress {
		if p.Whole {
			out = append(out, p)
		}
	}
	return out
}

// listen plays to a client, where time passes by itself.
func listen(t *testing.T, f playout.Format, script func(*playout.Player, *listener, hum)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, h := &listener{began: time.Now()}, hum{make(chan struct{})}
		p := playout.New(playout.Options{
			Speaker: h, Voice: func(string) speaker.Request { return speaker.Request{} }, Client: l, Clock: clock.RealClock{},
			Progress: func(p playout.Progress) { l.mu.Lock(); defer l.mu.Unlock(); l.progress = append(l.progress, p) },
			Log:      slog.New(slog.DiscardHandler),
		})
		defer p.Close()
		require.False(t, p.Audible())
		require.NoError(t, p.Connect(f))
		require.Equal(t, f != playout.None, p.Audible())
		script(p, l, h)
	})
}

// passes lets the bubble's time pass.
func passes(d time.Duration) { <-time.After(d) }

func words(n int) string { return strings.TrimSpace(strings.Repeat("la ", n)) }

// A turn is one track without a gap, never more than two seconds ahead of its playing.
func TestTrackIsPaced(t *testing.T) {
	for f, frameMs := range map[playout.Format]int{playout.PCM: 60, playout.Opus: 20} {
		listen(t, f, func(p *playout.Player, l *listener, _ hum) {
			turn := id.NewTurn()
			p.Say(playout.Sentence{Turn: turn, Number: 0, Text: words(20), Language: "en"}) // 8 s
			p.Say(playout.Sentence{Turn: turn, Number: 1, Text: words(5), Language: "en"})  // and 2 s
			p.Finish(turn)
			passes(20 * time.Second)
			frames := l.frames()
			next := time.Duration(0)
			for i, s := range frames {
				require.Equal(t, next, s.t, i)
				require.Equal(t, uint16(1), s.stream)
				require.Equal(t, i == len(frames)-1, s.last)
				require.LessOrEqual(t, s.t-s.at, 2*time.Second, "it was sent too early")
				require.LessOrEqual(t, s.at-s.t, time.Duration(0), "it was sent too late")
				if f == playout.PCM {
					require.LessOrEqual(t, len(s.frame), frameMs*48)
					next += time.Duration(len(s.frame)/48) * time.Millisecond
				} else {
					next += time.Duration(frameMs) * time.Millisecond
				}
			}
			require.Equal(t, 10260*time.Millisecond, next, "a sentence is whole packets")
			ends := l.whole()
			require.Len(t, ends, 2)
			require.Equal(t, []time.Duration{0, 8 * time.Second, 8250 * time.Millisecond, 10250 * time.Millisecond},
				[]time.Duration{ends[0].Begin, ends[0].End, ends[1].Begin, ends[1].End})
			require.Equal(t, turn, l.all[0].announce, "before all else")
			var shapes []int64
			for _, s := range l.all {
				for _, v := range s.visemes {
					require.LessOrEqual(t, s.at, time.Duration(v.AtMs)*time.Millisecond, "with or before its sound")
					shapes = append(shapes, v.AtMs)
				}
			}
			require.Len(t, shapes, 25)
			require.Equal(t, []int64{0, 400, 800}, shapes[:3])
			require.Equal(t, []int64{8250, 8650}, shapes[20:22])
		})
	}
}

func TestFirstSoundDoesNotWaitForTheSentence(t *testing.T) {
	listen(t, playout.PCM, func(p *playout.Player, l *listener, h hum) {
		turn := id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: "wait", Language: "en"})
		require.NotEmpty(t, l.frames())
		require.Empty(t, l.whole())
		for range 8 {
			h.goOn <- struct{}{}
		}
		require.Len(t, l.whole(), 1)
	})
}

// What somebody who is gone has not played is sent again to who takes their place, also of a turn that they had whole.
func TestTurnGoesOnElsewhere(t *testing.T) {
	listen(t, playout.Remote, func(p *playout.Player, l *listener, _ hum) {
		turn := id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(10), Language: "en"}) // 4 s
		p.Finish(turn)
		passes(2500 * time.Millisecond)
		before := l.frames()
		require.True(t, before[len(before)-1].last, "all of it was sent")
		require.NoError(t, p.Rewind(id.NewTurn(), 0, playout.Remote))
		passes(time.Second)
		require.Len(t, l.frames(), len(before), "another turn is not this one")
		require.NoError(t, p.Rewind(turn, 1210*time.Millisecond, playout.Track))
		passes(5 * time.Second)
		after := l.frames()[len(before):]
		require.Equal(t, 1220*time.Millisecond, after[0].t, "from the packet after what was heard")
		next := after[0].t
		for _, f := range after[:len(after)-1] {
			require.Equal(t, next, f.t)
			next += 20 * time.Millisecond
		}
		require.True(t, after[len(after)-1].last)
		require.GreaterOrEqual(t, after[len(after)-1].t, 3980*time.Millisecond)
		p.Stop(turn)
		require.NoError(t, p.Rewind(turn, 0, playout.Track))
		passes(time.Second)
		require.Len(t, l.frames(), len(before)+len(after), "what was stopped does not go on")
	})
}

func TestStoppedTurnIsNotHeard(t *testing.T) {
	listen(t, playout.PCM, func(p *playout.Player, l *listener, _ hum) {
		turn, next := id.NewTurn(), id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(50), Language: "en"})
		passes(time.Second)
		p.Stop(turn)
		before := l.frames()
		require.True(t, before[0].stopped.Load(), "what waits at the socket is dropped too")
		passes(10 * time.Second)
		require.Len(t, l.frames(), len(before))
		p.Say(playout.Sentence{Turn: next, Text: "la", Language: "en"})
		p.Finish(next)
		passes(time.Second)
		after := l.frames()[len(before):]
		require.Equal(t, []any{uint16(2), time.Duration(0), false}, []any{after[0].stream, after[0].t, after[0].stopped.Load()})
		require.True(t, after[len(after)-1].last)
	})
}

// A client that stands still is sent nothing that will be old when it goes on.
func TestStoppedClientIsNotSentMore(t *testing.T) {
	listen(t, playout.Opus, func(p *playout.Player, l *listener, _ hum) {
		turn := id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(50), Language: "en"})
		for range 40 {
			passes(250 * time.Millisecond)
			p.Played(turn, 500*time.Millisecond)
		}
		frames := l.frames()
		require.LessOrEqual(t, frames[len(frames)-1].t, 3*time.Second)
		for i := range 20 {
			passes(250 * time.Millisecond)
			p.Played(turn, time.Duration(500+250*i)*time.Millisecond)
		}
		frames = l.frames()
		require.Greater(t, frames[len(frames)-1].t, 6*time.Second, "it goes on with the client")
	})
}

func TestClientComesBackInTheMiddle(t *testing.T) {
	listen(t, playout.Opus, func(p *playout.Player, l *listener, _ hum) {
		turn := id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(20), Language: "en"})
		p.Finish(turn)
		passes(time.Second)
		require.NoError(t, p.Connect(playout.None))
		before := l.frames()
		passes(2 * time.Second)
		require.Len(t, l.frames(), len(before), "nobody is there")
		require.NoError(t, p.Connect(playout.PCM))
		passes(time.Second)
		after := l.frames()[len(before):]
		require.Equal(t, uint16(1), after[0].stream)
		require.InDelta(t, 5000, after[0].t.Milliseconds(), 60, "it goes on where it would have been")
		passes(10 * time.Second)
		frames := l.frames()
		require.True(t, frames[len(frames)-1].last)
		announced := 0
		for _, s := range l.all {
			if !s.announce.IsZero() {
				announced++
			}
		}
		require.Equal(t, 2, announced)
	})
}

// A sentence that fails is told of in its place, and the next one is heard.
func TestSentenceThatFails(t *testing.T) {
	listen(t, playout.PCM, func(p *playout.Player, l *listener, _ hum) {
		turn := id.NewTurn()
		for i, text := range []string{"la", "…", "la"} {
			p.Say(playout.Sentence{Turn: turn, Number: i, Text: text, Language: "en"})
		}
		p.Finish(turn)
		passes(3 * time.Second)
		var failed []bool
		for i, w := range l.whole() {
			require.Equal(t, i, w.Number)
			failed = append(failed, w.Failed)
		}
		require.Equal(t, []bool{false, true, false}, failed)
		frames := l.frames()
		require.True(t, frames[len(frames)-1].last)
	})
}

// busy is a speaker that has no room until some time.
type busy struct {
	hum
	until time.Time
	asked *atomic.Int64
}

func (b busy) Speak(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	b.asked.Add(1)
	if time.Now().Before(b.until) {
		return speaker.ErrBusy
	}
	return b.hum.Speak(ctx, r, heard)
}

// A speaker that is busy is asked again for some seconds, and no longer than somebody listens.
func TestBusySpeakerIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		busy   time.Duration
		stops  bool
		failed bool
	}{{busy: time.Second}, {busy: 20 * time.Second, failed: true}, {busy: 20 * time.Second, stops: true}} {
		synctest.Test(t, func(t *testing.T) {
			l := &listener{began: time.Now()}
			b := busy{hum{make(chan struct{})}, time.Now().Add(c.busy), &atomic.Int64{}}
			p := playout.New(playout.Options{
				Speaker: b, Voice: func(string) speaker.Request { return speaker.Request{} }, Client: l, Clock: clock.RealClock{},
				Progress: func(p playout.Progress) { l.mu.Lock(); defer l.mu.Unlock(); l.progress = append(l.progress, p) },
				Log:      slog.New(slog.DiscardHandler),
			})
			defer p.Close()
			require.NoError(t, p.Connect(playout.PCM))
			turn := id.NewTurn()
			p.Say(playout.Sentence{Turn: turn, Text: "la", Language: "en"})
			p.Finish(turn)
			passes(500 * time.Millisecond)
			if c.stops {
				p.Stop(turn)
				synctest.Wait()
				asked := b.asked.Load()
				passes(10 * time.Second)
				require.Equal(t, asked, b.asked.Load())
				return
			}
			passes(7 * time.Second)
			whole := l.whole()
			require.Len(t, whole, 1)
			require.Equal(t, c.failed, whole[0].Failed)
			require.Less(t, b.asked.Load(), int64(110))
		})
	}
}

func TestNobodyListens(t *testing.T) {
	listen(t, playout.None, func(p *playout.Player, l *listener, _ hum) {
		require.NoError(t, p.Connect(playout.PCM))
		require.NoError(t, p.Connect(playout.None))
		p.Say(playout.Sentence{Turn: id.NewTurn(), Text: "la", Language: "en"})
		require.Len(t, l.whole(), 1)
		require.True(t, l.whole()[0].Failed)
		require.Empty(t, l.frames())
	})
}

// The packets decode to what was said.
func TestOpusIsTheSound(t *testing.T) {
	listen(t, playout.Opus, func(p *playout.Player, l *listener, _ hum) {
		turn := id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(5), Language: "en"})
		p.Finish(turn)
		passes(3 * time.Second)
		decoder, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(48000, 1))
		require.NoError(t, err)
		var energy float64
		var samples, bytes, crossings int
		pcm, previous := make([]float32, 5760), float32(0)
		for i, s := range l.frames() {
			n, err := decoder.Decode(s.frame, pcm)
			require.NoError(t, err)
			require.Equal(t, 960, n, "a packet is of 20 ms")
			bytes += len(s.frame)
			if i < 5 {
				continue // the codec begins softly
			}
			for _, x := range pcm[:n] {
				energy += float64(x) * float64(x)
				if x >= 0 && previous < 0 {
					crossings++
				}
				samples, previous = samples+1, x
			}
		}
		require.InDelta(t, 8000.0/32768/math.Sqrt2, math.Sqrt(energy/float64(samples)), 0.02)
		require.InDelta(t, 220, float64(crossings)/(float64(samples)/48000), 3)
		require.Less(t, bytes, 2*32000/8*14/10, "at about 32 kbit/s")
	})
}

// What the client plays is known to be loud while it is heard, and a little longer.
func TestLoudness(t *testing.T) {
	listen(t, playout.PCM, func(p *playout.Player, _ *listener, _ hum) {
		require.Zero(t, p.Loudness())
		turn := id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(10), Language: "en"}) // 4 s
		p.Finish(turn)
		passes(100 * time.Millisecond)
		require.InDelta(t, 8000/math.Sqrt2/32768, p.Loudness(), 0.01)
		passes(4500 * time.Millisecond)
		require.NotZero(t, p.Loudness(), "it may still be heard")
		passes(time.Second)
		require.Zero(t, p.Loudness())

		turn = id.NewTurn()
		p.Say(playout.Sentence{Turn: turn, Text: words(10), Language: "en"})
		passes(time.Second)
		p.Stop(turn)
		require.NotZero(t, p.Loudness())
		passes(1100 * time.Millisecond)
		require.Zero(t, p.Loudness())
	})
}
