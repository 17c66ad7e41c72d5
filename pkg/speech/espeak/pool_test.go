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

// A process that is killed in the middle of a sentence breaks it off; the next one is whole.
func TestKilledInTheMiddle(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	long := speaker.Request{Text: strings.Repeat("and so on, ", 180), Language: "en"}
	var once sync.Once
	heard := 0
	err := pool.Speak(context.Background(), long, func(c speaker.Chunk) error {
		heard += len(c.Samples)
		once.Do(func() { require.NoError(t, syscall.Kill(pool.Processes()[0], syscall.SIGKILL)) })
		return nil
	})
	require.ErrorIs(t, err, speaker.ErrFailed)
	require.Positive(t, heard)
	require.NotEmpty(t, say(t, pool, speaker.Request{Text: "Hello.", Language: "en"}).Samples)
}

func TestFullPoolRefuses(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{Processes: 1, Queue: 1})
	r := speaker.Request{Text: "Hello there.", Language: "en"}
	began, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var group sync.WaitGroup
	ended := make(chan error, 2)
	group.Go(func() {
		ended <- pool.Speak(context.Background(), r, func(speaker.Chunk) error {
			once.Do(func() { close(began); <-goOn })
			return nil
		})
	})
	<-began
	waiting, cancel := context.WithCancel(context.Background())
	group.Go(func() { ended <- pool.Speak(waiting, r, func(speaker.Chunk) error { return nil }) })
	require.Eventually(t, func() bool { return pool.Waiting() == 2 }, 5*time.Second, time.Millisecond)
	require.ErrorIs(t, pool.Speak(context.Background(), r, func(speaker.Chunk) error { return nil }), speaker.ErrBusy)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled, "who no longer waits leaves the queue")
	close(goOn)
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
// all times are within the sound. A text that the library crashes at stops nobody else's.
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
		err := pool.Speak(context.Background(), r, func(c speaker.Chunk) error {
			samples += len(c.Samples)
			words, visemes = append(words, c.Words...), append(visemes, c.Visemes...)
			return nil
		})
		if err != nil {
			// The library crashes at some texts, such as "?-a" in Vietnamese.
			require.ErrorContains(t, err, "the speech engine failed")
			next := speaker.Request{Text: "Hello.", Language: "en"}
			require.NoError(t, pool.Speak(context.Background(), next, func(speaker.Chunk) error { return nil }))
		}
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
