package live_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/deepgram/deepgramtest"
	"visavis.dev/pkg/provider/transcription"
	"visavis.dev/pkg/provider/transcription/transcriptiontest"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/live/livetest"
)

const question = "When does the museum open?"

// asked is the question, with a little silence before and after.
func asked(t *testing.T) []int16 {
	t.Helper()
	pool := espeaktest.Open(t, espeak.Options{})
	all := make([]int16, 600*24)
	require.NoError(t, pool.Speak(context.Background(), speaker.Request{Text: question, Language: "en", Voice: "owen"}, func(c speaker.Chunk) error {
		all = append(all, c.Samples...)
		return nil
	}))
	return soundtest.Downsample(nil, append(all, make([]int16, 900*24)...))
}

func header(kind, flags byte, at int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind, flags, 0, 0}, uint32(at))
}

// speaks sends sound in frames of 20 ms.
func (c *client) speaks(samples []int16) {
	c.t.Helper()
	for n := 0; n < len(samples); n += 320 {
		frame := append(header(2, 0, n/16), sound.PCM(samples[n:min(n+320, len(samples))])...)
		require.NoError(c.t, c.SendSound(context.Background(), frame))
	}
}

// comes connects a client to a session that is held aloud.
func (s *stage) comes(p *pod) *client {
	s.t.Helper()
	minted, token := s.mint(aloud)
	c := s.connect(p, minted.ID, string(token))
	require.Equal(s.t, `"server"`, string(c.hears))
	c.send("client-ready", nil)
	return c
}

// final is the next that the user is understood to have said in the end.
func (c *client) final() string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var d struct {
		Text  string
		Final bool
	}
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		return m.Type == "user-transcription" && json.Unmarshal(m.Data, &d) == nil && d.Final
	})
	require.NoError(c.t, err)
	return d.Text
}

func byRecordings(s *transcriptiontest.Server) live.Recognition {
	return live.Recognition{Pause: 400 * time.Millisecond, Recognizer: &recognition.Recordings{
		Client:  transcription.Client{HTTP: s.Client(), BaseURL: s.URL + "/v1", Model: "whisper-1"},
		Timeout: 5 * time.Second, Clock: clock.RealClock{},
	}}
}

// What a visitor says is recognized and answered, by a recording at a time.
func TestVisitorIsHeard(t *testing.T) {
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	p := s.pod()
	defer p.Stop()
	c := s.comes(p)
	service.Next(transcriptiontest.Answer{Text: question})
	c.speaks(asked(t))
	c.await("user-started-speaking", nil)
	c.await("user-stopped-speaking", nil)
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
	require.Len(t, service.Got(), 1)
	require.Equal(t, "en", service.Got()[0].Language)
	require.InDelta(t, 2.2, float64(len(service.Got()[0].WAV))/32000, 0.8)
}

// The words come while they are said, where the service streams.
func TestVisitorIsHeardWordByWord(t *testing.T) {
	service := deepgramtest.Serve(t, question)
	s := newStage(t, 600)
	s.recognition = live.Recognition{Recognizer: &recognition.Streams{
		Client:  deepgram.Client{HTTP: service.Client(), BaseURL: service.URL, Model: "nova-3", Secrets: []string{"k"}},
		Timeout: 5 * time.Second, Clock: clock.RealClock{},
	}}
	p := s.pod()
	defer p.Stop()
	c := s.comes(p)
	c.speaks(asked(t))
	var d struct {
		Text  string
		Final bool
	}
	c.await("user-transcription", &d)
	require.Equal(t, "When", d.Text)
	require.False(t, d.Final)
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
}

// A service that fails is said, and typed words are answered as ever.
func TestRecognitionThatFails(t *testing.T) {
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	p := s.pod()
	defer p.Stop()
	c := s.comes(p)
	service.Next(transcriptiontest.Answer{Status: http.StatusTooManyRequests})
	c.speaks(asked(t))
	var d struct{ Code string }
	c.await("error", &d)
	require.Equal(t, "recognition_failed", d.Code)
	c.send("user-text", map[string]string{"text": question})
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
}

// A connection that cannot be opened takes nothing but the hearing.
func TestRecognitionThatCannotBeOpened(t *testing.T) {
	s := newStage(t, 600)
	s.deaf = errors.New("the secret cannot be opened")
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(aloud)
	c := s.connect(p, minted.ID, string(token))
	require.Equal(t, `"client"`, string(c.hears))
	c.send("client-ready", nil)
	c.send("user-text", map[string]string{"text": question})
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
}

// A client that understands speech itself is believed where the server could do it too: its
// user interrupts by beginning to speak.
func TestClientThatUnderstandsItself(t *testing.T) {
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	p := s.pod()
	defer p.Stop()
	c := s.comes(p)
	c.send("user-started-speaking", nil)
	c.send("user-transcript", map[string]any{"text": question, "final": true})
	c.send("user-stopped-speaking", nil)
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
	require.Empty(t, service.Got())
}

// With a button, what is said while it is held is a turn once it is let go, and nothing else
// is.
func TestVisitorWhoHoldsAButton(t *testing.T) {
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	s.change = func(d *persona.Definition) { d.Conversation.PushToTalk = true }
	p := s.pod()
	defer p.Stop()
	c := s.comes(p)
	service.Next(transcriptiontest.Answer{Text: question})
	sentence := asked(t)
	c.speaks(sentence[:16000])
	c.send("user-started-speaking", nil)
	c.await("user-started-speaking", nil)
	c.speaks(sentence[8000:30000])
	c.send("user-stopped-speaking", nil)
	require.Equal(t, question, c.final())
	require.Len(t, service.Got(), 1)
	require.InDelta(t, 44000, len(service.Got()[0].WAV), 1000)
}

// Sound comes as Opus too, and what is neither is said once.
func TestFramesOfSound(t *testing.T) {
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	p := s.pod()
	defer p.Stop()
	c := s.comes(p)
	service.Next(transcriptiontest.Answer{Text: question})
	encoder, err := sound.NewOpus(16000)
	require.NoError(t, err)
	sentence := asked(t)
	for n := 0; n+320 <= len(sentence); n += 320 {
		packet, err := encoder.Encode(sentence[n : n+320])
		require.NoError(t, err)
		require.NoError(t, c.SendSound(context.Background(), append(header(3, 0, n/16), packet...)))
	}
	require.Equal(t, question, c.final())
	for range 2 {
		for _, wrong := range [][]byte{{}, {2}, make([]byte, 640), append(header(2, 0, 0), 1), append(header(3, 0, 0), 0xff, 0xff, 0xff)} {
			require.NoError(t, c.SendSound(context.Background(), wrong))
		}
	}
	var d struct{ Code string }
	c.await("error", &d)
	require.Equal(t, "invalid_sound", d.Code)
	c.send("ping", nil)
	_, err = c.Until(t.Context(), func(m livetest.Message) bool {
		require.NotEqual(t, "error", m.Type)
		return m.Type == "pong"
	})
	require.NoError(t, err)
}
