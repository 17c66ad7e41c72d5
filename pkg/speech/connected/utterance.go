package connected

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

const (
	// quiet is the level below which samples are no sound, of full scale in 16 bits.
	quiet = 120
	// lead is how much silence a sentence begins with at most.
	lead = 60 * time.Millisecond
	// mostFactor and mostMore bound the sound of a text: so many times what is planned, and
	// so much more.
	mostFactor = 3
	mostMore   = 5 * time.Second
	// leastShare is the part of what is planned that a sentence is at least: one over this.
	leastShare = 4
)

var (
	errSilent  = errors.New("the sound is silent")
	errEndless = errors.New("the sound does not end")
	errShort   = errors.New("the sound is too short to be the text")
)

// utterance is a sentence that the service says.
type utterance struct {
	of    *Speaker
	r     speaker.Request
	text  spoken.Text
	heard func(speaker.Chunk) error
	// refused is the error with which heard ended the sentence.
	refused error

	plan     plan
	track    *track
	follower *follower

	rate      int
	resampler *sound.Resampler
	// held is what came before anything could be heard, and cut how much of it was left out.
	held    []int16
	cut     int
	audible bool
	made    int // samples that were given
	most    int
	// tells says that the first sound came with times: then they are gone by to the end.
	letters *letters
	tells   bool

	// watch ends the sentence by stalled where nothing more comes in time.
	asked, began time.Time
	watch        clock.Timer
	stalled      context.CancelCauseFunc
}

// begin prepares a sentence.
func (s *Speaker) begin(ctx context.Context, r speaker.Request, text spoken.Text, heard func(speaker.Chunk) error) *utterance {
	u := &utterance{of: s, r: r, text: text, heard: heard, plan: s.planOf(ctx, r, &text)}
	u.track = &track{}
	u.follower = newFollower(&u.plan, u.track, s.paced())
	u.letters = newLetters(&u.text)
	u.most = samplesOf(mostFactor*u.plan.lasts() + mostMore)
	return u
}

// ask has the service say the sentence. It answers how long the first sound took, or else
// the whole.
func (u *utterance) ask(ctx context.Context) (took time.Duration, err error) {
	c := u.of.o.Clock
	u.asked = c.Now()
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	u.stalled = cancel
	u.wait(u.of.o.First)
	defer func() { u.watch.Stop() }()
	err = u.of.o.Service.Speak(within, synthesis.Request{
		Text: u.text.Said, Language: primary(u.r.Language), Voice: u.of.o.Voice, Speed: u.r.Speed,
	}, u.take)
	u.watch.Stop()
	switch {
	case u.refused != nil:
		err = u.refused
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(context.Cause(within), upstream.ErrTimeout):
		err = upstream.ErrTimeout
	case err == nil:
		err = u.end()
	case upstream.CodeOf(err) == "":
		err = &upstream.Error{Code: upstream.Unavailable, Err: err}
	}
	if u.audible {
		return u.began.Sub(u.asked), err
	}
	return c.Since(u.asked), err
}

// wait ends the sentence unless something comes within so long.
func (u *utterance) wait(d time.Duration) {
	if u.watch != nil {
		u.watch.Stop()
	}
	u.watch = u.of.o.Clock.AfterFunc(d, func() { u.stalled(upstream.ErrTimeout) })
}

// take takes the next piece of sound.
func (u *utterance) take(p synthesis.Piece) error {
	if p.Rate != u.rate || u.resampler == nil {
		if p.Rate <= 0 {
			return &upstream.Error{Code: upstream.Malformed}
		}
		u.rate, u.resampler = p.Rate, sound.NewResampler(float64(p.Rate), speaker.SampleRate)
	}
	u.letters.take(p.Characters)
	return u.push(u.resampled(p.Samples))
}

func (u *utterance) resampled(samples []int16) []int16 {
	if u.rate == speaker.SampleRate {
		return samples
	}
	in := make([]float32, len(samples))
	for i, s := range samples {
		in[i] = float32(s)
	}
	return rounded(u.resampler.Push(nil, in))
}

// push gives samples on, once there is anything to hear in them.
func (u *utterance) push(samples []int16) error {
	if u.made+len(u.held)+u.cut+len(samples) > u.most {
		return &upstream.Error{Code: upstream.Malformed, Err: errEndless}
	}
	if !u.audible {
		at := firstAudible(samples)
		if at < 0 {
			u.hold(samples)
			return nil
		}
		u.hold(samples[:at])
		samples = append(u.held, samples[at:]...)
		u.held, u.audible, u.began = nil, true, u.of.o.Clock.Now()
	}
	if len(samples) == 0 {
		return nil
	}
	return u.give(samples)
}

// hold keeps the last of a silence.
func (u *utterance) hold(samples []int16) {
	u.held = append(u.held, samples...)
	if over := len(u.held) - samplesOf(lead); over > 0 {
		u.held = append(u.held[:0], u.held[over:]...)
		u.cut += over
	}
}

// give hands on samples with the words that have ended in them, and the mouth's shapes.
func (u *utterance) give(samples []int16) error {
	if u.made == 0 {
		u.tells = u.letters.told
	}
	u.made += len(samples)
	if u.tells {
		u.letters.place(&u.plan, u.track, lasts(u.cut), false)
	} else {
		u.follower.hear(samples)
	}
	chunk := u.track.chunk(lasts(u.made), false)
	chunk.Samples = samples
	if err := u.heard(chunk); err != nil {
		u.refused = err
		return err
	}
	// It is played from its beginning on: what comes later than that is too late.
	u.wait(max(u.began.Add(lasts(u.made)+behind).Sub(u.of.o.Clock.Now()), behind))
	return nil
}

// end hands on what is left of a sentence that the service said to its end.
func (u *utterance) end() error {
	if u.resampler != nil && u.rate != speaker.SampleRate {
		if err := u.push(rounded(u.resampler.Flush(nil))); err != nil {
			return err
		}
	}
	switch {
	case !u.audible:
		return &upstream.Error{Code: upstream.Malformed, Err: errSilent}
	case lasts(u.made) < u.plan.lasts()/leastShare:
		return &upstream.Error{Code: upstream.Truncated, Err: errShort}
	case u.tells:
		u.letters.place(&u.plan, u.track, lasts(u.cut), true)
		u.letters.missing(&u.plan, u.track, lasts(u.made))
	default:
		u.follower.end(lasts(u.made))
		if pace, ok := u.follower.faster(); ok {
			u.of.learn(pace)
		}
	}
	if err := u.heard(u.track.chunk(lasts(u.made), true)); err != nil {
		u.refused = err
		return err
	}
	return nil
}

// rest has the rest of the sentence said by what is built in, after the service failed.
func (u *utterance) rest(ctx context.Context, why error) (By, error) {
	if u.made == 0 {
		return u.of.instead(ctx, u.r, u.heard, why)
	}
	if err := u.heard(u.track.broken(lasts(u.made))); err != nil {
		return Connection, err
	}
	r, from, at := u.r, u.track.told, lasts(u.made).Milliseconds()
	r.Text = u.r.Text[from:]
	if strings.IndexFunc(r.Text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }) < 0 {
		return Connection, nil // all of it was said
	}
	return u.of.instead(ctx, r, func(c speaker.Chunk) error {
		for i := range c.Words {
			c.Words[i].AtMs, c.Words[i].From, c.Words[i].To = c.Words[i].AtMs+at, c.Words[i].From+from, c.Words[i].To+from
		}
		for i := range c.Visemes {
			c.Visemes[i].AtMs += at
		}
		return u.heard(c)
	}, why)
}

func firstAudible(samples []int16) int {
	for i, s := range samples {
		if s > quiet || s < -quiet {
			return i
		}
	}
	return -1
}

func rounded(samples []float32) []int16 {
	out := make([]int16, len(samples))
	for i, x := range samples {
		out[i] = int16(min(max(x, -32768), 32767))
	}
	return out
}

func samplesOf(d time.Duration) int { return int(d * speaker.SampleRate / time.Second) }

func lasts(samples int) time.Duration {
	return time.Duration(samples) * time.Second / speaker.SampleRate
}

// primary is a language without region and script: "pt" of "pt-BR".
func primary(language string) string {
	code, _, _ := strings.Cut(language, "-")
	return strings.ToLower(code)
}
