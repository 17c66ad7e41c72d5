package voices_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/speech/speaker"
)

// samplesOf are the samples of a WAV file, which must be one of ours.
func samplesOf(t *testing.T, wav []byte) []int16 {
	t.Helper()
	require.Greater(t, len(wav), 44)
	require.Equal(t, "RIFF", string(wav[:4]))
	require.Equal(t, uint32(24000), binary.LittleEndian.Uint32(wav[24:]))
	samples := make([]int16, (len(wav)-44)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(wav[44+2*i:]))
	}
	return samples
}

// requireSound says that somebody would hear something.
func requireSound(t *testing.T, samples []int16) {
	t.Helper()
	loudest := int16(0)
	for _, s := range samples {
		loudest = max(loudest, s)
	}
	require.Greater(t, loudest, int16(2000))
}

func TestVoicesSpeak(t *testing.T) {
	w := apitest.NewWorld(t)
	nora := id.NamedVoice("nora").String()
	said := w.CallAs(t, "speakVoice", nora, w.Acme.New, map[string]any{"text": "We open at **7:30**.", "language": "English"}).Data(t)
	sound, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(said["audioUrl"].(string), "data:audio/wav;base64,"))
	require.NoError(t, err)
	samples := samplesOf(t, sound)
	requireSound(t, samples)
	require.InDelta(t, float64(len(samples))/24, said["durationMs"], 1)
	require.Equal(t, []any{"en", "builtin"}, []any{said["language"], said["spokenBy"]})
	var words []string
	last := -1.0
	for _, word := range said["words"].([]any) {
		word := word.(map[string]any)
		require.Greater(t, word["t"], last)
		last = word["t"].(float64)
		words = append(words, word["text"].(string))
	}
	require.Equal(t, []string{"We", "open", "at", "7:30"}, words)
	require.Less(t, last, said["durationMs"])
	require.Greater(t, len(said["visemes"].([]any)), 10)

	slow := w.CallAs(t, "speakVoice", nora, w.Acme.New, map[string]any{"text": "We open at 7:30.", "speed": 0.5}).Data(t)
	require.Greater(t, slow["durationMs"], said["durationMs"])

	// A clone is spoken by what is built in, which is said.
	require.Equal(t, "builtin", w.CallAs(t, "speakVoice", w.TrainedVoice(t, w.Acme), w.Acme.New, map[string]any{"text": "Hello."}).Data(t)["spokenBy"])
}

// Who accepts sound rather than JSON gets a file.
func TestVoicesSpeakAsAFile(t *testing.T) {
	w := apitest.NewWorld(t)
	o := w.Operation(t, "speakVoice")
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "audio/wav": "audio/wav", "audio/*": "audio/wav", "audio/wav, */*;q=0.1": "audio/wav",
		"application/json, audio/wav;q=0.9": "application/json", "audio/mpeg": "application/json", "audio/wav;q=0, */*": "application/json",
		"audio/wav;q=x": "application/json",
	} {
		answer := w.Call(t, o, apitest.Request{
			Path: apitest.WithID(o, id.NamedVoice("erik").String()), Key: w.Acme.New, Header: map[string]string{"Accept": accept},
			Body: map[string]any{"text": "Hej på dig."},
		})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.Equal(t, want, answer.Header.Get("Content-Type"), accept)
		require.Contains(t, answer.Header.Values("Vary"), "Accept")
		if want == "audio/wav" {
			requireSound(t, samplesOf(t, answer.Raw))
		}
	}
	// Refusals are JSON all the same.
	answer := w.Call(t, o, apitest.Request{
		Path: apitest.WithID(o, id.NamedVoice("erik").String()), Key: w.Acme.New, Header: map[string]string{"Accept": "audio/wav"},
		Body: map[string]any{"text": "***"},
	})
	apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "body.text")
}

func TestVoicesThatCannotSpeak(t *testing.T) {
	w := apitest.NewWorld(t)
	nora, ploy := id.NamedVoice("nora").String(), id.NamedVoice("ploy").String()
	training := w.CloneVoice(t, w.Acme)
	for name, test := range map[string]struct {
		voice       string
		body        map[string]any
		status      int
		code, param string
		reason      any
	}{
		"nothing to say":             {nora, map[string]any{"text": "…"}, 400, "invalid_request", "body.text", nil},
		"no text":                    {nora, map[string]any{}, 400, "invalid_request", "body.text", nil},
		"too long":                   {nora, map[string]any{"text": strings.Repeat("a", 2001)}, 400, "invalid_request", "body.text", nil},
		"too fast":                   {nora, map[string]any{"text": "Hello.", "speed": 3}, 400, "invalid_request", "body.speed", nil},
		"no language":                {nora, map[string]any{"text": "Hello.", "language": "Klingon"}, 400, "invalid_request", "body.language", nil},
		"another language":           {nora, map[string]any{"text": "Hello.", "language": "sw"}, 400, "invalid_request", "body.language", nil},
		"a language nobody has":      {ploy, map[string]any{"text": "Sawasdee", "language": "th"}, 409, "conflict", "body.language", "language_not_spoken"},
		"its own, which nobody has":  {ploy, map[string]any{"text": "Sawasdee"}, 409, "conflict", "body.language", "language_not_spoken"},
		"a voice that is not made":   {training, map[string]any{"text": "Hello."}, 409, "conflict", "path.id", "voice_not_ready"},
		"a voice that there is none": {"vo_x", map[string]any{"text": "Hello."}, 404, "not_found", "path.id", nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := apitest.RequireError(t, w.CallAs(t, "speakVoice", test.voice, w.Acme.New, test.body), test.status, test.code, test.param)
			details, _ := e["details"].(map[string]any)
			require.Equal(t, test.reason, details["reason"])
		})
	}
	reads := w.Key(w.Acme, scope.Grant{Contract: "2026-10-01", Scopes: []scope.Scope{scope.VoicesRead}})
	require.Equal(t, http.StatusOK, w.CallAs(t, "speakVoice", nora, reads, map[string]any{"text": "Hello."}).Status)
}

// Where no speech engine is installed the API says so; all else about voices works.
func TestNothingSpeaks(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Speaker = nil })
	nora := id.NamedVoice("nora").String()
	refused := w.CallAs(t, "speakVoice", nora, w.Acme.New, map[string]any{"text": "Hello."})
	e := apitest.RequireError(t, refused, http.StatusServiceUnavailable, "capacity", "")
	require.Equal(t, "no_speech_engine", e["details"].(map[string]any)["reason"])
	require.Equal(t, "300", refused.Header.Get("Retry-After"))
	apitest.RequireError(t, w.CallAs(t, "getVoicePreview", nora, w.Acme.New, nil), http.StatusServiceUnavailable, "capacity", "")
	require.NotNil(t, w.CallAs(t, "getVoice", nora, w.Acme.New, nil).Data(t)["previewUrl"])
}

// A studio voice's greeting is anybody's to hear; what it is told to say takes a key, and an
// own voice is its organization's alone.
func TestVoicePreviews(t *testing.T) {
	w := apitest.NewWorld(t)
	o := w.Operation(t, "getVoicePreview")
	hear := func(request apitest.Request, voice, query string) apitest.Answer {
		request.Path = apitest.WithID(o, voice) + query
		return w.Call(t, o, request)
	}
	anybody, acme := apitest.Request{}, apitest.Request{Key: w.Acme.New}
	heard := map[string]bool{}
	for _, item := range w.Get(w.Acme.New, "/voices?limit=200&kind=builtin").JSON(t)["data"].([]any) {
		v := item.(map[string]any)
		at, err := url.Parse(v["previewUrl"].(string))
		require.NoError(t, err)
		answer := w.Call(t, o, apitest.Request{Path: strings.TrimPrefix(at.Path, "/v1")})
		require.Equal(t, http.StatusOK, answer.Status, "%s: %s", v["name"], answer.Raw)
		require.Equal(t, "audio/wav", answer.Header.Get("Content-Type"))
		require.Contains(t, answer.Header.Get("Cache-Control"), "public")
		requireSound(t, samplesOf(t, answer.Raw))
		heard[string(answer.Raw)] = true
	}
	require.Len(t, heard, 26, "each sounds like nobody else")

	layla := id.NamedVoice("layla").String()
	apitest.RequireError(t, hear(anybody, layla, "?text=Hello"), http.StatusBadRequest, "invalid_request", "query.text")
	told := hear(acme, layla, "?text=Hello&language=English")
	require.Equal(t, http.StatusOK, told.Status)
	require.Contains(t, told.Header.Get("Cache-Control"), "private")
	apitest.RequireError(t, hear(acme, layla, "?text=%2A%2A"), http.StatusBadRequest, "invalid_request", "query.text")
	apitest.RequireError(t, hear(anybody, layla, "?language=Klingon"), http.StatusBadRequest, "invalid_request", "query.language")
	apitest.RequireError(t, hear(anybody, id.NamedVoice("ploy").String(), "?language=th"), http.StatusConflict, "conflict", "query.language")
	again := hear(apitest.Request{Header: map[string]string{"If-None-Match": hear(anybody, layla, "").Header.Get("ETag")}}, layla, "")
	require.Equal(t, http.StatusNotModified, again.Status)

	own := w.TrainedVoice(t, w.Acme)
	requireSound(t, samplesOf(t, hear(acme, own, "").Raw))
	for _, stranger := range []apitest.Request{anybody, {Key: w.Globex.New}} {
		apitest.RequireError(t, hear(stranger, own, ""), http.StatusNotFound, "not_found", "path.id")
	}
	training := w.CloneVoice(t, w.Acme)
	apitest.RequireError(t, hear(acme, training, ""), http.StatusConflict, "conflict", "path.id")
	require.Nil(t, w.CallAs(t, "getVoice", training, w.Acme.New, nil).Data(t)["previewUrl"])
}

// lengthy is a speaker that makes ten seconds of sound of any text, counts what it says, and
// stays at what begins with "Wait" until its end.
type lengthy struct {
	said       atomic.Int64
	began, end chan struct{}
}

func (*lengthy) Speaks(string) bool { return true }

func (l *lengthy) Speak(_ context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	l.said.Add(1)
	err := heard(speaker.Chunk{Samples: make([]int16, 10*speaker.SampleRate)})
	if strings.HasPrefix(r.Text, "Wait") {
		close(l.began)
		<-l.end
	}
	return err
}

// A few digits are many words: sound is counted by how long it is, and not by its text.
func TestSoundIsCountedToTheBudget(t *testing.T) {
	long := &lengthy{began: make(chan struct{}), end: make(chan struct{})}
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Speaker, o.BodyBytes = long, 8<<20 })
	nora := id.NamedVoice("nora").String()
	held := make(chan int, 1)
	go func() {
		held <- w.Do(apitest.Request{Method: http.MethodPost, Path: "/voices/" + nora + "/speak", Key: w.Acme.New, Body: map[string]any{"text": "Wait."}}).Status
	}()
	<-long.began
	apitest.RequireError(t, w.CallAs(t, "speakVoice", nora, w.Acme.New, map[string]any{"text": "7"}), http.StatusServiceUnavailable, "capacity", "")
	close(long.end)
	require.Equal(t, http.StatusOK, <-held, "who is alone may hold more")
	require.Equal(t, http.StatusOK, w.CallAs(t, "speakVoice", nora, w.Acme.New, map[string]any{"text": "7"}).Status, "all is given back")
}

// Anybody may ask for a greeting, as often as they like: it is said once.
func TestGreetingsAreKept(t *testing.T) {
	long := &lengthy{}
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Speaker = long })
	o := w.Operation(t, "getVoicePreview")
	for range 3 {
		require.Equal(t, http.StatusOK, w.Call(t, o, apitest.Request{Path: apitest.WithID(o, id.NamedVoice("nora").String())}).Status)
	}
	require.EqualValues(t, 1, long.said.Load())
	require.Equal(t, http.StatusOK, w.CallAs(t, "getVoicePreview", w.TrainedVoice(t, w.Acme), w.Acme.New, nil).Status)
	require.EqualValues(t, 2, long.said.Load(), "another's is another")
}
