package vad_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/vad"
)

func TestMain(m *testing.M) { os.Exit(espeaktest.Tests{M: m}.Run()) }

// said is a sentence at the detector's rate.
func said(t *testing.T, pool *espeak.Pool, text string) []float64 {
	t.Helper()
	var all []int16
	require.NoError(t, pool.Speak(context.Background(), speaker.Request{Text: text, Language: "en", Voice: "nora"}, func(c speaker.Chunk) error {
		all = append(all, c.Samples...)
		return nil
	}))
	out := make([]float64, 0, len(all)*2/3)
	for _, s := range soundtest.Downsample(nil, all) {
		out = append(out, float64(s))
	}
	return out
}

// level is of what is not silent.
func level(x []float64) float64 {
	sum, n := 0.0, 1
	for _, v := range x {
		if math.Abs(v) > 100 {
			sum += v * v
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}

// scene is sound that is put together.
type scene struct {
	x      []float64
	random *rand.Rand
}

func newScene(seconds float64) *scene {
	return &scene{make([]float64, int(seconds*vad.SampleRate)), rand.New(rand.NewPCG(1, 2))}
}

// add puts something in at a moment, at a level in dB of full scale.
func (s *scene) add(at, db float64, x []float64) {
	gain := 32768 * math.Pow(10, db/20) / level(x)
	for i, v := range x {
		if n := int(at*vad.SampleRate) + i; n < len(s.x) {
			s.x[n] += gain * v
		}
	}
}

// noise is over all of it.
func (s *scene) noise(db float64) {
	last := 0.0
	for i := range s.x {
		// More of it is low, as of fans and streets.
		last = 0.8*last + s.random.NormFloat64()
		s.x[i] += last * 0.6 * 32768 * math.Pow(10, db/20)
	}
}

// found is a stretch of speech, in seconds.
type found struct{ from, to float64 }

// detect finds the speech, while something is played at these levels.
func (s *scene) detect(playing func(at float64) float64) (all []found) {
	d := vad.New()
	for n := 0; n+vad.FrameSamples <= len(s.x); n += vad.FrameSamples {
		frame := make([]int16, vad.FrameSamples)
		for i := range frame {
			frame[i] = int16(max(min(s.x[n+i], 32767), -32768))
		}
		at := float64(n+vad.FrameSamples) / vad.SampleRate
		level := 0.0
		if playing != nil {
			level = playing(at)
		}
		switch d.Push(frame, level) {
		case vad.Started:
			all = append(all, found{from: at - d.Lead().Seconds()})
		case vad.Stopped:
			all[len(all)-1].to = at - vad.Hangover.Seconds()
		case vad.None:
		}
	}
	return all
}

// Speech is found where it is, whatever noise is around it, from a quiet to a loud voice.
func TestSpeechIsFoundInNoise(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	sentence := said(t, pool, "When does the museum open?")
	lasts := float64(len(sentence)) / vad.SampleRate
	for _, voice := range []float64{-38, -26, -14} {
		for _, snr := range []float64{100, 30, 20, 12} {
			t.Run(fmt.Sprintf("%.0f dB, %.0f dB above the noise", voice, snr), func(t *testing.T) {
				s := newScene(9)
				s.noise(voice - snr)
				s.add(2, voice, sentence)
				s.add(6, voice, sentence)
				all := s.detect(nil)
				require.NotEmpty(t, all)
				require.InDelta(t, 2, all[0].from, 0.2)
				require.InDelta(t, 6+lasts, all[len(all)-1].to, 0.35)
				for _, f := range all {
					require.Condition(t, func() bool { return f.from > 1.8 && f.to < 2.3+lasts || f.from > 5.8 }, "%v", all)
				}
				require.LessOrEqual(t, len(all), 4, "%v", all)
			})
		}
	}
}

// Rooms alone are silent: steady ones, ones that get louder, clicks, and nothing at all.
func TestNoSpeechInNoise(t *testing.T) {
	for name, make := range map[string]func(s *scene){
		"nothing": func(*scene) {},
		"quiet":   func(s *scene) { s.noise(-60) },
		"loud":    func(s *scene) { s.noise(-25) },
		"hum":     func(s *scene) { s.add(0, -30, tone(len(s.x), 120)) },
		"clicks":  func(s *scene) { s.noise(-50); s.clicks(-12) },
		"direct":  func(s *scene) { s.add(0, -20, tone(len(s.x), 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(20)
			make(s)
			require.Empty(t, s.detect(nil))
		})
	}
}

// A fan that is turned on is noise after a while.
func TestNoiseThatBeginsIsLearned(t *testing.T) {
	s := newScene(12)
	s.noise(-60)
	fan := newScene(8)
	fan.noise(-30)
	s.add(4, -30, fan.x)
	all := s.detect(nil)
	for _, f := range all {
		require.Less(t, f.to, 7.5)
		require.NotZero(t, f.to)
	}
}

// The avatar's own voice is not the visitor's, at −20 dB from the first word on, and one
// that speaks over it is.
func TestEchoIsNotSpeech(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	story := said(t, pool, "The orangery was built in eighteen ninety by two sisters who had brought lemon trees from the south.")
	word := said(t, pool, "Stop, please!")
	const visitor, played = -26.0, -20.0
	for _, down := range []float64{-40, -30, -20, -14} {
		for _, speaks := range []bool{false, true} {
			s := newScene(8)
			s.noise(-60)
			s.add(1, visitor+down, story)
			if speaks {
				s.add(4, visitor, word)
			}
			gain := 32768 * math.Pow(10, played/20) / level(story)
			all := s.detect(func(at float64) float64 {
				// Known to 300 ms: the loudest that can be heard now.
				loudest := 0.0
				for w := -0.4; w < 0.2; w += 0.02 {
					if n := int((at - 1 + w) * vad.SampleRate); n >= 0 && n+vad.FrameSamples < len(story) {
						sum := 0.0
						for _, v := range story[n : n+vad.FrameSamples] {
							sum += v * v * gain * gain
						}
						loudest = max(loudest, math.Sqrt(sum/vad.FrameSamples)/32768)
					}
				}
				return loudest
			})
			if !speaks {
				require.Empty(t, all, "%v dB", down)
				continue
			}
			require.NotEmpty(t, all, "%v dB", down)
			require.InDelta(t, 4, all[0].from, 0.3, "%v dB", down)
		}
	}
}

func tone(n int, hz float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 10000 * math.Cos(2*math.Pi*hz*float64(i)/vad.SampleRate)
	}
	return out
}

// clicks are keys: 10 ms of noise, twice a second.
func (s *scene) clicks(db float64) {
	for at := 0.5; at < float64(len(s.x))/vad.SampleRate; at += 0.5 {
		click := make([]float64, vad.SampleRate/100)
		for i := range click {
			click[i] = 10000 * s.random.NormFloat64()
		}
		s.add(at, db, click)
	}
}

func BenchmarkPush(b *testing.B) {
	d, frame := vad.New(), make([]int16, vad.FrameSamples)
	for b.Loop() {
		d.Push(frame, 0)
	}
}
