package synthesis_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/elevenlabs"
	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/synthesis/synthesistest"
	"visavis.dev/pkg/provider/upstream"
)

func client(s *synthesistest.Server) synthesis.Client {
	return synthesis.Client{HTTP: s.Client(), BaseURL: s.URL + "/v1/", Model: "tts-1", Secrets: []string{"old", "new"}}
}

func eleven(s *synthesistest.Server) elevenlabs.Speech {
	return elevenlabs.Speech{Client: elevenlabs.Client{HTTP: s.Client(), BaseURL: s.URL}, Secrets: []string{"k"}}
}

// gather takes all pieces.
func gather(all *[]synthesis.Piece) func(synthesis.Piece) error {
	return func(p synthesis.Piece) error {
		*all = append(*all, p)
		return nil
	}
}

func sound(pieces []synthesis.Piece) (samples []int16) {
	for _, p := range pieces {
		samples = append(samples, p.Samples...)
	}
	return samples
}

func TestSoundIsTakenWhileItComes(t *testing.T) {
	s := synthesistest.Serve(t)
	more := make(chan struct{})
	tone := synthesistest.Tone(time.Second)
	s.Next(synthesistest.Answer{Status: http.StatusUnauthorized}, synthesistest.Answer{Samples: tone, Pieces: 2, Until: more})
	var got []int16
	err := client(s).Speak(t.Context(), synthesis.Request{Text: "Hello.", Voice: "alloy", Speed: 1.2, Language: "en"}, func(p synthesis.Piece) error {
		require.Equal(t, 24000, p.Rate)
		if got = append(got, p.Samples...); len(got) == len(tone)/2 {
			close(more) // nothing else came before
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, tone, got)
	want := synthesistest.Asked{Path: "/v1/audio/speech", Key: "Bearer old", Text: "Hello.", Voice: "alloy", Model: "tts-1", Speed: 1.2}
	require.Equal(t, want, s.Asked()[0])
	want.Key = "Bearer new"
	require.Equal(t, want, s.Asked()[1])
}

// Files of two ears, of floats, with other parts, of a length that is told or not, are read.
func TestKindsOfFiles(t *testing.T) {
	s := synthesistest.Serve(t)
	speak := func(header []byte, body string) ([]synthesis.Piece, error) {
		s.Next(synthesistest.Answer{Body: string(header) + body})
		var got []synthesis.Piece
		err := client(s).Speak(t.Context(), synthesis.Request{Text: "x"}, gather(&got))
		return got, err
	}
	two := string(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, 1000), 3000))
	got, err := speak(synthesistest.Header(1, 2, 16, 48000), strings.Repeat(two, 100))
	require.NoError(t, err)
	require.Equal(t, 48000, got[0].Rate)
	require.Len(t, sound(got), 100)
	require.EqualValues(t, 2000, sound(got)[99])

	half := string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5)))
	wild := string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))) + string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(-9)))
	got, err = speak(synthesistest.Header(3, 1, 32, 8000), half+wild)
	require.NoError(t, err)
	require.Equal(t, []int16{16383, 0, -32767}, sound(got))

	told := synthesistest.Header(1, 1, 16, 22050)
	data := len(told) - 8
	listed := append(append([]byte(nil), told[:data]...), "LIST\x03\x00\x00\x00abc\x00data\x04\x00\x00\x00"...)
	got, err = speak(listed, "\x01\x00\x02\x00LIST and more")
	require.NoError(t, err)
	require.Equal(t, []int16{1, 2}, sound(got))
	_, err = speak(listed, "\x01\x00")
	require.ErrorIs(t, err, upstream.ErrTruncated)
	got, err = speak(append(told[:data], "data\x00\x00\x00\x00"...), "\x01\x00\x02\x00")
	require.NoError(t, err)
	require.Equal(t, []int16{1, 2}, sound(got), "a stream that did not know its length")
}

func TestWhatIsNoSound(t *testing.T) {
	for name, test := range map[string]struct {
		answer synthesistest.Answer
		want   error
	}{
		"a page":          {synthesistest.Answer{Body: "<!doctype html><html><body>Sign in to the network</body></html>"}, upstream.ErrMalformed},
		"nothing":         {synthesistest.Answer{Header: []byte{}}, upstream.ErrMalformed},
		"another format":  {synthesistest.Answer{Body: "ID3\x04" + strings.Repeat("\x00", 100)}, upstream.ErrMalformed},
		"no rate":         {synthesistest.Answer{Header: synthesistest.Header(1, 1, 16, 0)}, upstream.ErrMalformed},
		"a wild rate":     {synthesistest.Answer{Header: synthesistest.Header(1, 1, 16, 4_000_000_000)}, upstream.ErrMalformed},
		"bits":            {synthesistest.Answer{Header: synthesistest.Header(1, 1, 24, 24000)}, upstream.ErrMalformed},
		"ears":            {synthesistest.Answer{Header: synthesistest.Header(1, 6, 16, 24000)}, upstream.ErrMalformed},
		"compressed":      {synthesistest.Answer{Header: synthesistest.Header(85, 1, 16, 24000)}, upstream.ErrMalformed},
		"an endless head": {synthesistest.Answer{Body: "RIFF\xff\xff\xff\xffWAVEjunk\xff\xff\xff\xff" + strings.Repeat("x", 1<<20)}, upstream.ErrMalformed},
		"many parts":      {synthesistest.Answer{Body: "RIFF\xff\xff\xff\xffWAVE" + strings.Repeat("junk\x00\x00\x00\x00", 1<<16)}, upstream.ErrMalformed},
		"breaking off":    {synthesistest.Answer{Samples: synthesistest.Tone(time.Second), Breaks: true}, upstream.ErrTruncated},
		"a secret":        {synthesistest.Answer{Status: http.StatusForbidden}, upstream.ErrRefused},
		"too often":       {synthesistest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "7"}, upstream.ErrRateLimited},
		"a failure":       {synthesistest.Answer{Status: http.StatusBadGateway}, upstream.ErrUnavailable},
		"a wrong voice":   {synthesistest.Answer{Status: http.StatusBadRequest}, upstream.ErrRejected},
	} {
		t.Run(name, func(t *testing.T) {
			s := synthesistest.Serve(t)
			s.Next(test.answer, test.answer)
			err := client(s).Speak(t.Context(), synthesis.Request{Text: "x"}, func(synthesis.Piece) error { return nil })
			require.ErrorIs(t, err, test.want)
		})
	}
	s := synthesistest.Serve(t)
	s.Close()
	require.ErrorIs(t, client(s).Speak(t.Context(), synthesis.Request{Text: "x"}, nil), upstream.ErrUnavailable)
}

// Who wants no more of an endless sound is not given more.
func TestSoundIsLeftWhereItIsNotWanted(t *testing.T) {
	s := synthesistest.Serve(t)
	enough := errors.New("enough")
	for _, speak := range []func(context.Context, synthesis.Request, func(synthesis.Piece) error) error{client(s).Speak, eleven(s).Speak} {
		s.Next(synthesistest.Answer{Samples: synthesistest.Tone(time.Second), Endless: true})
		seconds := 0.0
		require.ErrorIs(t, speak(t.Context(), synthesis.Request{Text: "x", Voice: "v"}, func(p synthesis.Piece) error {
			if seconds += float64(len(p.Samples)) / 24000; seconds > 10 {
				return enough
			}
			return nil
		}), enough)
	}
	s.Next(synthesistest.Answer{UntilFirst: make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, client(s).Speak(ctx, synthesis.Request{Text: "x"}, nil), context.Canceled)
}

func TestElevenLabs(t *testing.T) {
	s := synthesistest.Serve(t)
	tone := synthesistest.Tone(time.Second)
	s.Next(synthesistest.Answer{Samples: tone, Pieces: 3, Begin: []float64{0, 0.5}, End: []float64{0.4, 0.9}})
	var got []synthesis.Piece
	speech := eleven(s)
	require.NoError(t, speech.Speak(t.Context(), synthesis.Request{Text: "Já", Voice: "a/b", Language: "pt", Speed: 2}, gather(&got)))
	require.Equal(t, tone, sound(got))
	require.Equal(t, []synthesis.Character{{Text: "J", End: 400 * time.Millisecond}}, got[0].Characters)
	require.Equal(t, []synthesis.Character{{Text: "á", Begin: 500 * time.Millisecond, End: 900 * time.Millisecond}}, got[1].Characters)
	require.Equal(t, synthesistest.Asked{
		Path: "/v1/text-to-speech/a/b/stream/with-timestamps", Query: "output_format=pcm_24000", Key: "k", Text: "Já", Voice: "a/b",
		Model: "eleven_flash_v2_5", Language: "pt", Speed: 1.2,
	}, s.Asked()[0], "what the service takes of the speed")
	speech.Model = "eleven_multilingual_v2"
	require.NoError(t, speech.Speak(t.Context(), synthesis.Request{Text: "Oi", Voice: "v", Language: "pt"}, gather(&got)))
	require.Empty(t, s.Asked()[1].Language, "most models refuse to be told")
}

func TestWhatElevenLabsDoesNotSay(t *testing.T) {
	s := synthesistest.Serve(t)
	for name, body := range map[string]string{
		"a page":          "<!doctype html>",
		"another message": `{"detail": {"status": "quota_exceeded"}}`,
		"no base64":       `{"audio_base64": "?"}`,
		"a number":        `{"audio_base64": 7}`,
		"uneven times":    `{"audio_base64": "", "alignment": {"characters": ["a"], "character_start_times_seconds": [], "character_end_times_seconds": []}}`,
		"a giant":         `{"audio_base64": "` + strings.Repeat("A", 3<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s.Next(synthesistest.Answer{Body: body})
			require.ErrorIs(t, eleven(s).Speak(t.Context(), synthesis.Request{Text: "x", Voice: "v"}, func(synthesis.Piece) error { return nil }), upstream.ErrMalformed)
		})
	}
	// Times that fall, or are wild, are made to rise.
	s.Next(synthesistest.Answer{Body: `data: {"audio_base64": "AQAC", "alignment": {"characters": ["a", "b", "c"], "character_start_times_seconds": [5, 1, 1e300], "character_end_times_seconds": [-1, 0, 1]}}` + "\n\n" + `{"audio_base64": "AA=="}`})
	var got []synthesis.Piece
	require.NoError(t, eleven(s).Speak(t.Context(), synthesis.Request{Text: "abc", Voice: "v"}, gather(&got)))
	require.Equal(t, []int16{1, 2}, sound(got), "a sample may be cut in two")
	five, hour := 5*time.Second, time.Hour
	require.Equal(t, []synthesis.Character{{"a", five, five}, {"b", five, five}, {"c", hour, hour}}, got[0].Characters)
}
