package espeak_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/speaker"
)

func TestWordsAndVisemesFollowTheSound(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	text := "We open at seven, Mia."
	said := say(t, pool, speaker.Request{Text: text, Language: "en", Voice: "nora", Gender: "female"})
	lasts := int64(len(said.Samples)) * 1000 / speaker.SampleRate
	require.InDelta(t, 1800, lasts, 700)
	var words []string
	before := int64(0)
	for _, w := range said.Words {
		words = append(words, text[w.From:w.To])
		require.GreaterOrEqual(t, w.AtMs, before)
		require.Positive(t, w.LastsMs)
		before = w.AtMs + w.LastsMs
		require.LessOrEqual(t, before, lasts)
	}
	require.Equal(t, []string{"We", "open", "at", "seven", "Mia"}, words)

	// Lips close for the m of Mia, after the pause before it and before its i.
	mia := said.Words[4]
	var shapes []string
	for i, v := range said.Visemes {
		require.LessOrEqual(t, v.AtMs, lasts)
		if i > 0 {
			require.GreaterOrEqual(t, v.AtMs, said.Visemes[i-1].AtMs)
		}
		if v.AtMs >= mia.AtMs {
			shapes = append(shapes, v.Shape)
		}
	}
	require.Equal(t, []string{"PP", "I"}, shapes[:2])
	require.Equal(t, "sil", shapes[len(shapes)-1])
}

func TestSpeedIsObeyed(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	r := speaker.Request{Text: passage, Language: "en", Voice: "owen", Speed: 1}
	natural := len(say(t, pool, r).Samples)
	for speed, within := range map[float64][2]float64{0.7: {1.25, 1.65}, 1.2: {0.75, 0.92}} {
		r.Speed = speed
		ratio := float64(len(say(t, pool, r).Samples)) / float64(natural)
		require.Greater(t, ratio, within[0], speed)
		require.Less(t, ratio, within[1], speed)
	}
}

// What befalls the process does not befall who asked it.
func TestKilledProcessIsReplaced(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	r := speaker.Request{Text: "Hello there.", Language: "en"}
	require.NotEmpty(t, say(t, pool, r).Samples)
	before := pool.Processes()
	require.Len(t, before, 1)
	require.NoError(t, syscall.Kill(before[0], syscall.SIGKILL))
	require.NotEmpty(t, say(t, pool, r).Samples, "another process says it")
	require.NotEqual(t, before, pool.Processes())
}

func TestStalledProcessIsReplaced(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1, Stall: 150 * time.Millisecond})
	r := speaker.Request{Text: "Hello there.", Language: "en"}
	require.NotEmpty(t, say(t, pool, r).Samples)
	before := pool.Processes()
	require.NoError(t, syscall.Kill(before[0], syscall.SIGSTOP))
	require.NotEmpty(t, say(t, pool, r).Samples)
	require.NotEqual(t, before, pool.Processes())
}

// A process that is killed in the middle of a text is replaced, and the text is said whole.
func TestKilledInTheMiddle(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	long := speaker.Request{Text: strings.Repeat("and so on, ", 180), Language: "en"}
	whole := say(t, pool, long)
	var once sync.Once
	heard := 0
	require.NoError(t, pool.Speak(context.Background(), long, func(c speaker.Chunk) error {
		heard += len(c.Samples)
		once.Do(func() { require.NoError(t, syscall.Kill(pool.Processes()[0], syscall.SIGKILL)) })
		return nil
	}))
	require.InDelta(t, len(whole.Samples), heard, speaker.SampleRate/1000)
}

// Of a text at which the library crashes everything is said that it can say, and the words
// keep their times.
func TestCrashingTextIsSaid(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	for language, text := range map[string]string{"en": strings.Repeat("W.", 100) + " Welcome.", "vi": "?-a xin"} {
		said := say(t, pool, speaker.Request{Text: text, Language: language})
		last := said.Words[len(said.Words)-1]
		require.Equal(t, len(strings.TrimSuffix(text, ".")), last.To, text)
		require.InDelta(t, int64(len(said.Samples))*1000/speaker.SampleRate, last.AtMs+last.LastsMs, 400, text)
	}
}

// A long text is said in phrases: its words come in order, and none is missing.
func TestLongTextLosesNoWord(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	text := strings.TrimSpace(strings.Repeat("We bake every morning, and twice on Saturday. ", 40))
	said := say(t, pool, speaker.Request{Text: text, Language: "en"})
	require.Len(t, said.Words, len(strings.Fields(text)))
	at := int64(-1)
	for i, w := range said.Words {
		require.Equal(t, strings.Trim(strings.Fields(text)[i], ",."), text[w.From:w.To])
		require.Greater(t, w.AtMs, at)
		at = w.AtMs
	}
	require.Less(t, at, int64(len(said.Samples))*1000/speaker.SampleRate)
}

func TestFullPoolRefuses(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1, Queue: 1})
	r := speaker.Request{Text: "Hello there.", Language: "en"}
	nothing := func(speaker.Chunk) error { return nil }
	process := pool.Processes()[0]
	require.NoError(t, syscall.Kill(process, syscall.SIGSTOP))
	var group sync.WaitGroup
	ended := make(chan error, 2)
	group.Go(func() { ended <- pool.Speak(context.Background(), r, nothing) })
	require.Eventually(t, func() bool { return pool.Waiting() == 1 }, 20*time.Second, time.Millisecond)
	waiting, cancel := context.WithCancel(context.Background())
	group.Go(func() { ended <- pool.Speak(waiting, r, nothing) })
	require.Eventually(t, func() bool { return pool.Waiting() == 2 }, 20*time.Second, time.Millisecond)
	require.ErrorIs(t, pool.Speak(context.Background(), r, nothing), speaker.ErrBusy)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled, "who no longer waits leaves the queue")
	require.NoError(t, syscall.Kill(process, syscall.SIGCONT))
	require.NoError(t, <-ended)
	group.Wait()
}

// Who hears no more does not cost a process.
func TestStoppedListenerKeepsTheProcess(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	enough := errors.New("enough")
	before := pool.Processes()
	for range 3 {
		require.ErrorIs(t, pool.Speak(context.Background(), speaker.Request{Text: passage, Language: "en"}, func(speaker.Chunk) error { return enough }), enough)
	}
	require.Equal(t, before, pool.Processes())
}

func TestWithoutTheProgramOrTheLibrary(t *testing.T) {
	_, err := espeak.Open(espeak.Options{})
	require.ErrorIs(t, err, speaker.ErrUnavailable)
	t.Setenv("VISAVIS_ESPEAK_LIBRARY", filepath.Join(t.TempDir(), "none.so"))
	_, err = espeak.Open(espeak.Options{Program: espeaktest.Program(t)})
	require.ErrorIs(t, err, speaker.ErrUnavailable)
	require.ErrorContains(t, err, "none.so")
}

func TestClosedPoolEndsItsProcesses(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 2})
	pid := pool.Processes()[0]
	pool.Close()
	require.Empty(t, pool.Processes())
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.Error(t, pool.Speak(context.Background(), speaker.Request{Text: "Hello.", Language: "en"}, func(speaker.Chunk) error { return nil }))
}

// Whatever is said, in whatever language, words are stretches of the text, in order, and
// all times are within the sound. The library crashes at some
// texts.
func TestAnyText(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	rapid.Check(t, func(t *rapid.T) {
		r := speaker.Request{
			Text:     strings.ToValidUTF8(rapid.StringN(1, 60, -1).Draw(t, "text"), ""),
			Language: rapid.SampledFrom([]string{"en", "de", "fr", "ar", "ru", "ko", "hi", "vi"}).Draw(t, "language"),
			Speed:    rapid.Float64Range(0.5, 1.5).Draw(t, "speed"),
		}
		var samples int
		var words []speaker.Word
		var visemes []speaker.Viseme
		require.NoError(t, pool.Speak(context.Background(), r, func(c speaker.Chunk) error {
			samples += len(c.Samples)
			words, visemes = append(words, c.Words...), append(visemes, c.Visemes...)
			return nil
		}))
		lasts := int64(samples)*1000/speaker.SampleRate + 5
		at, to := int64(0), 0
		for _, w := range words {
			require.GreaterOrEqual(t, w.AtMs, at)
			require.GreaterOrEqual(t, w.From, to)
			require.Greater(t, w.To, w.From)
			require.LessOrEqual(t, w.To, len(r.Text))
			require.LessOrEqual(t, w.AtMs+w.LastsMs, lasts)
			at, to = w.AtMs, w.To
		}
		for _, v := range visemes {
			require.LessOrEqual(t, v.AtMs, lasts+glideMs)
			require.InDelta(t, 0.5, v.Weight, 0.5)
		}
	})
}

const glideMs = 75
