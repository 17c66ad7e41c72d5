package connected_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/elevenlabs"
	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/synthesis/synthesistest"
	"visavis.dev/pkg/speech/connected"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/speaker"
)

func TestMain(m *testing.M) { os.Exit(espeaktest.Tests{M: m}.Run()) }

const sentence = "The museum opens at nine, and the garden behind it is open until late every evening. Do come and see the lemon trees."

// said is what a voice says of a text: all of it.
func said(t testing.TB, by speaker.Speaker, r speaker.Request) speaker.Chunk {
	t.Helper()
	all, err := gathered(by, r)
	require.NoError(t, err)
	return all
}

func gathered(by speaker.Speaker, r speaker.Request) (all speaker.Chunk, err error) {
	err = by.Speak(context.Background(), r, func(c speaker.Chunk) error {
		all.Samples, all.Visemes, all.Words = append(all.Samples, c.Samples...), append(all.Visemes, c.Visemes...), append(all.Words, c.Words...)
		return nil
	})
	return all, err
}

// stage is a service, what is built in, and a speaker of both.
type stage struct {
	service *synthesistest.Server
	builtin *espeak.Pool
	o       connected.Options
	// calls are what was reported.
	calls []error
}

func newStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{service: synthesistest.Serve(t), builtin: espeaktest.Open(t, espeak.Options{})}
	s.o = connected.Options{
		Service: synthesis.Client{HTTP: s.service.Client(), BaseURL: s.service.URL + "/v1", Model: "tts"},
		Voice:   "alloy", Builtin: s.builtin, First: 5 * time.Second, Clock: clock.RealClock{},
		Calls: func() (func(error, time.Duration), bool) {
			return func(err error, _ time.Duration) { s.calls = append(s.calls, err) }, true
		},
	}
	return s
}

// asElevenLabs has the service asked as that one is, which tells times.
func (s *stage) asElevenLabs() {
	s.o.Service = elevenlabs.Speech{Client: elevenlabs.Client{HTTP: s.service.Client(), BaseURL: s.service.URL}}
}

func request(text string) speaker.Request {
	return speaker.Request{Text: text, Language: "en", Voice: "nora"}
}

// requireTrack checks what holds of every sentence that was said to its end: the words come in
// their order, each once, within the sound; the mouth's shapes rise in time, and the last
// closes it.
func requireTrack(t testing.TB, text string, all speaker.Chunk) {
	t.Helper()
	lasts := int64(len(all.Samples)) * 1000 / speaker.SampleRate
	at, from := int64(0), 0
	for _, w := range all.Words {
		require.GreaterOrEqual(t, w.AtMs, at)
		require.GreaterOrEqual(t, w.From, from)
		require.Greater(t, w.To, w.From)
		require.LessOrEqual(t, w.To, len(text))
		require.GreaterOrEqual(t, w.LastsMs, int64(0))
		require.LessOrEqual(t, w.AtMs+w.LastsMs, lasts+1)
		at, from = w.AtMs, w.To
	}
	at = 0
	for _, v := range all.Visemes {
		require.GreaterOrEqual(t, v.AtMs, at)
		require.NotEmpty(t, v.Shape)
		at = v.AtMs
	}
	require.NotEmpty(t, all.Visemes)
	require.Equal(t, "sil", all.Visemes[len(all.Visemes)-1].Shape)
}

func texts(text string, words []speaker.Word) (out []string) {
	for _, w := range words {
		out = append(out, text[w.From:w.To])
	}
	return out
}
