package espeak_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
)

// say is the whole of what a speaker gives for a request.
func say(t testing.TB, pool *espeak.Pool, r speaker.Request) speaker.Chunk {
	t.Helper()
	var all speaker.Chunk
	require.NoError(t, pool.Speak(context.Background(), r, func(c speaker.Chunk) error {
		all.Samples = append(all.Samples, c.Samples...)
		all.Visemes = append(all.Visemes, c.Visemes...)
		all.Words = append(all.Words, c.Words...)
		return nil
	}))
	return all
}

const passage = "Good morning, and welcome. We are open every day from early in the morning until six, and we bake the bread ourselves."

// Chinese is read by its syllables, and not spelled: four of them here begin with closed lips.
func TestMandarin(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	for code, text := range map[string]string{"zh-Hans": "博物馆明天八点开门。", "zh-Hant": "博物館明天八點開門。"} {
		said := say(t, pool, speaker.Request{Text: text, Language: code, Voice: "wei", Gender: "male"})
		require.InDelta(t, 2.3, float64(len(said.Samples))/speaker.SampleRate, 0.9, code)
		require.Equal(t, 0, said.Words[0].From, code)
		closed := 0
		for _, v := range said.Visemes {
			if v.Shape == "PP" {
				closed++
			}
		}
		require.Equal(t, 4, closed, "%s: bo, ming, ba, men", code)
	}
}

// Every studio voice can be told from every other of its gender by its pitch, its
// brightness or its pace, and all are as loud as each other. VISAVIS_WAV names a folder
// to write them to.
func TestStudioVoicesDiffer(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	type measured struct {
		voice.Voice
		soundtest.Figures
	}
	var all []measured
	for _, v := range voice.Studio() {
		said := say(t, pool, speaker.Request{Text: passage, Language: "en", Voice: v.Key, Gender: v.Gender})
		f := soundtest.Measure(speaker.SampleRate, said.Samples)
		t.Logf("%-9s %-6s %4.0f Hz ±%4.1f st, centroid %4.0f Hz, %4.2f s, %5.1f dB, top %5.1f dB, silent %2.0f %%",
			v.Key, v.Gender, f.Pitch, f.Range, f.Centroid, f.Seconds, f.Level, f.Top, 100*f.Silence)
		if folder := os.Getenv("VISAVIS_WAV"); folder != "" {
			require.NoError(t, os.WriteFile(filepath.Join(folder, v.Key+".wav"), sound.WAV(speaker.SampleRate, said.Samples), 0o600))
		}
		require.InDelta(t, -22, f.Level, 1, v.Key)
		require.Less(t, f.Top, -0.2, v.Key)
		require.Zero(t, f.Clipped, v.Key)
		require.Less(t, f.Silence, 0.25, v.Key)
		if v.Gender == voice.Female {
			require.Greater(t, f.Pitch, 150.0, v.Key)
		} else {
			require.Less(t, f.Pitch, 155.0, v.Key)
		}
		all = append(all, measured{v, f})
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Gender != b.Gender {
				continue
			}
			// A semitone, a twentieth of the brightness or of the pace is heard.
			apart := math.Abs(12*math.Log2(a.Pitch/b.Pitch)) + 20*math.Abs(math.Log(a.Centroid/b.Centroid)) + 20*math.Abs(math.Log(a.Seconds/b.Seconds))
			require.Greater(t, apart, 2.0, "%s sounds like %s", a.Key, b.Key)
		}
	}
}
