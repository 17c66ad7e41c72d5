package connected_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/provider/synthesis/synthesistest"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/connected"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

// The sound is the service's, as it comes: the first of it before the rest is there.
func TestSentenceIsSaidByTheService(t *testing.T) {
	s := newStage(t)
	more := make(chan struct{})
	voice := said(t, s.builtin, speaker.Request{Text: sentence, Language: "en", Voice: "marcus", Speed: 1.1})
	s.service.Next(synthesistest.Answer{Samples: voice.Samples, Pieces: 10, Until: more})
	var all speaker.Chunk
	by, err := connected.New(s.o).Say(t.Context(), request(sentence), func(c speaker.Chunk) error {
		if len(all.Samples) == 0 && len(c.Samples) > 0 {
			close(more)
		}
		all.Samples, all.Visemes, all.Words = append(all.Samples, c.Samples...), append(all.Visemes, c.Visemes...), append(all.Words, c.Words...)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, connected.Connection, by)
	require.Equal(t, []error{nil}, s.calls)
	require.True(t, slices.Equal(voice.Samples[len(voice.Samples)-len(all.Samples):], all.Samples), "but for the silence before it")
	requireTrack(t, sentence, all)
	require.Equal(t, texts(sentence, voice.Words), texts(sentence, all.Words))
}

// What is said is the text as a voice reads it, with the voice's own pronunciations; the words
// are of the text all the same.
func TestTextIsMadeSpeakable(t *testing.T) {
	s := newStage(t)
	const text = "**Acme** opens at [nine](https://x.example)."
	s.service.Next(synthesistest.Answer{Samples: synthesistest.Tone(2 * time.Second)})
	r := request(text)
	r.Pronunciations, r.Speed = []speaker.Pronunciation{{Text: "Acme", Say: "Ack mee"}}, 1.2
	all := said(t, connected.New(s.o), r)
	requireTrack(t, text, all)
	asked := s.service.Asked()[0]
	require.Equal(t, spoken.Of(text, "en", r.Pronunciations).Said, asked.Text)
	require.Contains(t, asked.Text, "Ack mee")
	require.NotContains(t, asked.Text, "*")
	require.Equal(t, []any{"alloy", "tts", 1.2}, []any{asked.Voice, asked.Model, asked.Speed})
	require.Contains(t, texts(text, all.Words), "opens")
	require.Empty(t, said(t, connected.New(s.o), request("** —")).Samples)
	require.Len(t, s.service.Asked(), 1, "there is nothing to say in it")
}

// Sound of another rate is brought to ours, as long and as high.
func TestOtherRates(t *testing.T) {
	s := newStage(t)
	for _, rate := range []int{8000, 16000, 22050, 44100, 48000} {
		tone := make([]int16, 2*rate)
		for i := range tone {
			tone[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
			if rate > 24000 { // what the lower rate cannot hold
				tone[i] += int16(8000 * math.Sin(2*math.Pi*15000*float64(i)/float64(rate)))
			}
		}
		s.service.Next(synthesistest.Answer{Samples: tone, Rate: rate, Pieces: 7})
		all := said(t, connected.New(s.o), request("Ten words are in this, that is two seconds long."))
		require.InDelta(t, 2*speaker.SampleRate, len(all.Samples), 100, rate)
		crossings := 0
		for i := range all.Samples[1:] {
			if all.Samples[i] < 0 && all.Samples[i+1] >= 0 {
				crossings++
			}
		}
		require.InDelta(t, 880, crossings, 6, rate)
		require.InDelta(t, 20*math.Log10(8000/math.Sqrt2/32768), soundtest.Measure(speaker.SampleRate, all.Samples).Level, 1, rate)
	}
}

// Where the service does not say a sentence, what is built in does.
func TestBuiltinSpeaksInstead(t *testing.T) {
	never := make(chan struct{})
	for name, test := range map[string]struct {
		answer synthesistest.Answer
		want   error
	}{
		"a page":        {synthesistest.Answer{Body: "<!doctype html><html>"}, upstream.ErrMalformed},
		"no sound":      {synthesistest.Answer{}, upstream.ErrMalformed},
		"silence":       {synthesistest.Answer{Samples: make([]int16, 24000)}, upstream.ErrMalformed},
		"no end of it":  {synthesistest.Answer{Samples: make([]int16, 24000), Endless: true}, upstream.ErrMalformed},
		"a wrong rate":  {synthesistest.Answer{Header: synthesistest.Header(1, 1, 16, 1), Samples: synthesistest.Tone(time.Second)}, upstream.ErrMalformed},
		"refused":       {synthesistest.Answer{Status: http.StatusUnauthorized}, upstream.ErrRefused},
		"too often":     {synthesistest.Answer{Status: http.StatusTooManyRequests}, upstream.ErrRateLimited},
		"failing":       {synthesistest.Answer{Status: http.StatusInternalServerError}, upstream.ErrUnavailable},
		"slow":          {synthesistest.Answer{UntilFirst: never}, upstream.ErrTimeout},
		"slow in sound": {synthesistest.Answer{Samples: make([]int16, 24000), Pieces: 2, Until: never}, upstream.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if errors.Is(test.want, upstream.ErrTimeout) {
				s.o.First = 100 * time.Millisecond
			}
			s.service.Next(test.answer)
			by, all, err := say(s.o, request(sentence))
			require.NoError(t, err)
			require.Equal(t, connected.Builtin, by)
			requireTrack(t, sentence, all)
			want := said(t, s.builtin, request(sentence))
			require.Equal(t, texts(sentence, want.Words), texts(sentence, all.Words))
			require.InDelta(t, len(want.Samples), len(all.Samples), speaker.SampleRate/5)
			require.Len(t, s.calls, 1)
			require.ErrorIs(t, s.calls[0], test.want)
		})
	}
}

func say(o connected.Options, r speaker.Request) (by connected.By, all speaker.Chunk, err error) {
	s := connected.New(o)
	by, err = s.Say(context.Background(), r, func(c speaker.Chunk) error {
		all.Samples, all.Visemes, all.Words = append(all.Samples, c.Samples...), append(all.Visemes, c.Visemes...), append(all.Words, c.Words...)
		return nil
	})
	return by, all, err
}

// Where it breaks off or stalls within a sentence, the rest is said by what is built in: every
// word once.
func TestRestIsSaidByWhatIsBuiltIn(t *testing.T) {
	never := make(chan struct{})
	for name, test := range map[string]struct {
		answer synthesistest.Answer
		want   error
	}{
		"breaking off": {synthesistest.Answer{Breaks: true}, upstream.ErrTruncated},
		"stalling":     {synthesistest.Answer{Pieces: 2, Until: never}, upstream.ErrTimeout},
		"too short":    {synthesistest.Answer{}, upstream.ErrTruncated},
	} {
		for _, tells := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				if tells {
					s.asElevenLabs()
				}
				voice := said(t, s.builtin, request(sentence))
				answer := test.answer
				answer.Begin, answer.End = charactersOf(sentence, voice)
				switch {
				case answer.Pieces > 0:
					answer.Samples = voice.Samples
				case answer.Breaks:
					answer.Samples = voice.Samples[:len(voice.Samples)/2]
				default:
					answer.Samples = voice.Samples[:len(voice.Samples)/5]
				}
				s.service.Next(answer)
				by, all, err := say(s.o, request(sentence))
				require.NoError(t, err)
				require.Equal(t, connected.Builtin, by)
				require.ErrorIs(t, s.calls[0], test.want)
				requireTrack(t, sentence, all)
				require.Equal(t, letters(sentence), letters(strings.Join(texts(sentence, all.Words), " ")))
				require.InDelta(t, len(voice.Samples), len(all.Samples), 2*speaker.SampleRate)
			})
		}
	}
}

// A sound that does not end is cut, and counts as none.
func TestEndlessSound(t *testing.T) {
	s := newStage(t)
	s.service.Next(synthesistest.Answer{Samples: synthesistest.Tone(time.Second), Endless: true})
	_, all, err := say(s.o, request("Good morning."))
	require.NoError(t, err)
	require.ErrorIs(t, s.calls[0], upstream.ErrMalformed)
	require.Less(t, len(all.Samples), 15*speaker.SampleRate)
}

// With nobody to speak in its place a service that fails is an error, and the text stands alone.
func TestNobodySpeaksInstead(t *testing.T) {
	s := newStage(t)
	s.o.Only = true
	s.service.Next(synthesistest.Answer{Status: http.StatusBadGateway}, synthesistest.Answer{Samples: synthesistest.Tone(6 * time.Second)})
	speaks := connected.New(s.o)
	_, err := gathered(speaks, request(sentence))
	require.ErrorIs(t, err, speaker.ErrFailed)
	require.ErrorIs(t, err, upstream.ErrUnavailable)
	said(t, speaks, request(sentence)) // it is asked every time
	s.o.Only, s.o.Builtin = false, nil
	s.service.Next(synthesistest.Answer{Status: http.StatusBadGateway})
	_, err = gathered(connected.New(s.o), request(sentence))
	require.ErrorIs(t, err, speaker.ErrFailed)
	s.service.Next(synthesistest.Answer{Samples: synthesistest.Tone(8 * time.Second)})
	requireTrack(t, sentence, said(t, connected.New(s.o), request(sentence)))
}

// A conversation that was kept waiting leaves the service alone for a while, and then asks it
// once.
func TestServiceIsLeftAlone(t *testing.T) {
	s := newStage(t)
	c := clocktesting.NewFakeClock(time.Now())
	s.o.Clock = c
	speaks := connected.New(s.o)
	s.service.Say = func(synthesistest.Asked) synthesistest.Answer {
		return synthesistest.Answer{Samples: synthesistest.Tone(time.Second)}
	}
	s.service.Next(synthesistest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "30"})
	asked := func() int {
		said(t, speaks, request("Good morning."))
		return len(s.service.Asked())
	}
	require.Equal(t, 1, asked())
	require.Equal(t, 1, asked(), "it is not asked again at once")
	c.Step(29 * time.Second)
	require.Equal(t, 1, asked(), "it said for how long")
	c.Step(2 * time.Second)
	require.Equal(t, 2, asked())
	require.Equal(t, 3, asked(), "it works again")
	require.Len(t, s.calls, 3)
	s.o.Calls = func() (func(error, time.Duration), bool) { return nil, false }
	by, _, err := say(s.o, request("Good morning."))
	require.NoError(t, err)
	require.Equal(t, connected.Builtin, by, "nor where others were failed")
}

// Who stops listening ends the request; that says nothing of the service.
func TestNobodyListensAnyMore(t *testing.T) {
	s := newStage(t)
	stopped := errors.New("stopped")
	s.service.Next(synthesistest.Answer{Samples: synthesistest.Tone(time.Second), Endless: true}, synthesistest.Answer{UntilFirst: make(chan struct{})})
	require.ErrorIs(t, connected.New(s.o).Speak(t.Context(), request(sentence), func(speaker.Chunk) error { return stopped }), stopped)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	require.ErrorIs(t, connected.New(s.o).Speak(ctx, request(sentence), func(speaker.Chunk) error { return nil }), context.Canceled)
	require.Equal(t, []error{context.Canceled, context.Canceled}, s.calls)
}

func TestLanguages(t *testing.T) {
	s := newStage(t)
	require.True(t, connected.New(s.o).Speaks("th"))
	s.o.Languages = []string{"de", "th"}
	speaks := connected.New(s.o)
	require.True(t, speaks.Speaks("th"))
	require.True(t, speaks.Speaks("en"), "what is built in does")
	require.False(t, speaks.Speaks("ja"))
	by, _, err := say(s.o, request(sentence))
	require.NoError(t, err)
	require.Equal(t, connected.Builtin, by)
	require.Empty(t, s.calls)
	s.service.Next(synthesistest.Answer{Samples: synthesistest.Tone(2 * time.Second)})
	thai := "พิพิธภัณฑ์เปิดเก้าโมงเช้า"
	all := said(t, speaks, speaker.Request{Text: thai, Language: "th"})
	requireTrack(t, thai, all)
	require.Equal(t, strings.Join(texts(thai, all.Words), ""), thai)
	require.ErrorIs(t, speaks.Speak(t.Context(), speaker.Request{Text: "x", Language: "ja"}, nil), speaker.ErrLanguage)
}

// letters are those of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

// charactersOf are the times of a text's characters as a service would tell them: even within
// the words.
func charactersOf(text string, c speaker.Chunk) (begin, end []float64) {
	at, in := 0.0, 0
	for i := range text {
		for in < len(c.Words) && c.Words[in].To <= i {
			in++
		}
		if in < len(c.Words) && i >= c.Words[in].From {
			w := c.Words[in]
			letter := float64(w.LastsMs) / 1000 / float64(w.To-w.From)
			at = float64(w.AtMs)/1000 + letter*float64(i-w.From)
			begin, end = append(begin, at), append(end, at+letter)
			at += letter
			continue
		}
		begin, end = append(begin, at), append(end, at)
	}
	return begin, end
}

// Where the service tells times they are the words', whatever the plan was.
func TestTimesOfTheService(t *testing.T) {
	s := newStage(t)
	s.asElevenLabs()
	voice := said(t, s.builtin, speaker.Request{Text: sentence, Language: "en", Voice: "marcus", Speed: 0.8})
	begin, end := charactersOf(sentence, voice)
	s.service.Next(synthesistest.Answer{Samples: voice.Samples, Pieces: 6, Begin: begin, End: end})
	all := said(t, connected.New(s.o), request(sentence))
	requireTrack(t, sentence, all)
	cut := int64(len(voice.Samples)-len(all.Samples)) * 1000 / speaker.SampleRate
	require.Equal(t, strings.FieldsFunc(sentence, func(r rune) bool { return !unicode.IsLetter(r) }), texts(sentence, all.Words))
	at := map[int]int64{}
	for _, w := range all.Words {
		at[w.From] = w.AtMs
	}
	for _, w := range voice.Words {
		require.InDelta(t, w.AtMs-cut, at[w.From], 25, sentence[w.From:w.To])
	}
}

// Where it stops telling times, or begins to late, every word comes once all the same.
func TestTimesThatAreMissing(t *testing.T) {
	s := newStage(t)
	s.asElevenLabs()
	voice := said(t, s.builtin, request(sentence))
	begin, end := charactersOf(sentence, voice)
	for name, mute := range map[string]func(int) bool{
		"none at first": func(n int) bool { return n == 0 }, "none at last": func(n int) bool { return n > 2 }, "none in between": func(n int) bool { return n%2 == 1 },
	} {
		s.service.Next(synthesistest.Answer{Samples: voice.Samples, Pieces: 6, Begin: begin, End: end, Mute: mute})
		all := said(t, connected.New(s.o), request(sentence))
		requireTrack(t, sentence, all)
		require.Contains(t, texts(sentence, all.Words), "trees", name)
	}
	wild := make([]float64, len(begin))
	for i := range wild {
		wild[i] = 3000 * float64(i%2)
	}
	s.service.Next(synthesistest.Answer{Samples: voice.Samples, Pieces: 1, Begin: wild, End: begin})
	requireTrack(t, sentence, said(t, connected.New(s.o), request(sentence)))
}

// Where it does not, the words are found in the sound.
func TestTimesAreFound(t *testing.T) {
	for _, test := range []struct {
		voice string
		speed float64
		// first and later are how far words may be off at p50, in milliseconds.
		first, later int64
	}{{"marcus", 1, 100, 80}, {"grace", 1.15, 250, 80}, {"ruth", 0.85, 900, 180}} {
		s := newStage(t)
		speaks := connected.New(s.o)
		voice := said(t, s.builtin, speaker.Request{Text: sentence, Language: "en", Voice: test.voice, Speed: test.speed})
		var median [3]int64
		for n := range median {
			s.service.Next(synthesistest.Answer{Samples: voice.Samples, Pieces: 8})
			all := said(t, speaks, request(sentence))
			requireTrack(t, sentence, all)
			cut := int64(len(voice.Samples)-len(all.Samples)) * 1000 / speaker.SampleRate
			require.Equal(t, texts(sentence, voice.Words), texts(sentence, all.Words))
			var off []int64
			for i, w := range voice.Words {
				off = append(off, max(w.AtMs-cut-all.Words[i].AtMs, all.Words[i].AtMs-w.AtMs+cut))
			}
			slices.Sort(off)
			median[n] = off[len(off)/2]
			t.Logf("%s at %.2f, sentence %d: words begin %d ms off at p50, %d at p90", test.voice, test.speed, n+1, off[len(off)/2], off[len(off)*9/10])
		}
		require.LessOrEqual(t, median[0], test.first)
		require.LessOrEqual(t, median[1], test.later, "the pace is learned")
		require.LessOrEqual(t, median[2], test.later)
	}
}
