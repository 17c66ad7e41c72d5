package live_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/deepgram/deepgramtest"
	"visavis.dev/pkg/provider/transcription"
	"visavis.dev/pkg/provider/transcription/transcriptiontest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/tenant"
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
	_, c := s.visitor(p, aloud)
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
	s := newStage(t, 600)
	s.deaf = errors.New("the secret cannot be opened")
	p := s.pod()
	defer p.Stop()
	_, c := s.visitor(p, aloud)
	require.Equal(t, `"client"`, string(c.hears))
	c.send("client-ready", nil)
	c.send("user-text", map[string]string{"text": question})
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
}

// A client that understands speech itself is believed where the server could do it too: its
// user interrupts by beginning to speak.
func TestClientThatUnderstandsItself(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// steers changes a session and waits until its conversation goes by it.
func (s *stage) steers(which id.Session, c session.Command) {
	s.t.Helper()
	c.Kind = session.SteerIt
	s.order(which, c)
	require.Eventually(s.t, func() bool {
		orders, err := session.Orders(context.Background(), s.tenants, "a", s.session(which).Owner.UUID)
		return err == nil && len(orders) == 0
	}, 20*time.Second, 10*time.Millisecond)
}

// steersAs changes a session as the API does, which keeps what its next process needs.
func (s *stage) steersAs(which id.Session, c session.Command) {
	s.t.Helper()
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		held, err := session.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		_, err = session.Steer(ctx, tx, held, session.Steered{Listening: c.Listening, Mute: c.Mute, Goal: c.Goal})
		return err
	}))
	s.steers(which, c)
}

// What the session's owner wants holds in the process that takes the session over.
func TestSteeringOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	s.change = func(d *persona.Definition) {
		d.Goals = []persona.Goal{
			{Key: "name", Prompt: "What is your name?", Required: true, Outputs: []string{"name"}, Confirm: "auto"},
			{Key: "town", Prompt: "Where do you live?", Required: true, Outputs: []string{"town"}, Confirm: "auto"},
		}
	}
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	minted, c := s.greeted(one, aloud)
	s.steersAs(minted.ID, session.Command{Listening: new(false), Mute: new(true), Goal: new("town")})
	s.crash(minted.ID)

	again := s.connect(two, minted.ID, c.resume)
	again.speaks(asked(t))
	again.send("user-text", map[string]string{"text": question})
	require.Equal(t, question, again.final())
	s.order(minted.ID, session.Command{Kind: session.SayIt, Text: "This was ordered.", Interruptible: true, Record: true})
	_, err := again.Until(t.Context(), func(m livetest.Message) bool {
		require.NotContains(t, string(m.Data), "nine", "the avatar is muted")
		return m.Type == "bot-text" && strings.Contains(string(m.Data), "This was ordered.")
	})
	require.NoError(t, err)
	require.Empty(t, service.Got(), "nobody is to be understood")

	s.steersAs(minted.ID, session.Command{Listening: new(true), Mute: new(false)})
	service.Next(transcriptiontest.Answer{Text: question})
	again.speaks(asked(t))
	require.Equal(t, question, again.final())
	again.hear("nine")
	again.hear("Where do you live?")
}

// A recognizer that is long in ending holds up nobody: what is typed is answered, and the
// change is done once the recognizer has ended.
func TestRecognizerThatIsLongInEnding(t *testing.T) {
	t.Parallel()
	slow := &slowRecognizer{opened: make(chan struct{}), ends: make(chan struct{})}
	s := newStage(t, 600)
	s.recognition = live.Recognition{Recognizer: slow}
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, aloud)
	c.speaks(make([]int16, 3200))
	<-slow.opened
	ordered := s.order(minted.ID, session.Command{Kind: session.SteerIt, Listening: new(false)})
	typed := s.order(minted.ID, session.Command{Kind: session.RespondTo, Text: question})
	c.hear("nine")
	require.Eventually(t, func() bool { return s.carriedOut(minted.ID, typed) }, 20*time.Second, 10*time.Millisecond)
	require.False(t, s.carriedOut(minted.ID, ordered), "something is still heard")
	close(slow.ends)
	require.Eventually(t, func() bool { return s.carriedOut(minted.ID, ordered) }, 20*time.Second, 10*time.Millisecond)
}

// carriedOut says whether an order is done.
func (s *stage) carriedOut(which id.Session, order id.Turn) bool {
	done, err := session.Obeyed(context.Background(), s.tenants, s.org, which, order)
	return err == nil && done
}

// slowRecognizer is one that ends when it is let.
type slowRecognizer struct{ opened, ends chan struct{} }

func (r *slowRecognizer) Open(func(recognition.Result)) recognition.Ear {
	close(r.opened)
	return r
}
func (*slowRecognizer) Begin(int, string) {}
func (*slowRecognizer) Write([]int16)     {}
func (*slowRecognizer) End()              {}
func (r *slowRecognizer) Close()          { <-r.ends }

// A button that is held while nobody is to be understood, and on, is held when somebody is
// again; one that was let go meanwhile is not.
func TestButtonHeldWhileListeningIsOff(t *testing.T) {
	t.Parallel()
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	s.change = func(d *persona.Definition) { d.Conversation.PushToTalk = true }
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, aloud)
	sentence := asked(t)
	c.send("user-started-speaking", nil)
	c.await("user-started-speaking", nil)
	s.steers(minted.ID, session.Command{Listening: new(false)})
	c.speaks(sentence)
	s.steers(minted.ID, session.Command{Listening: new(true)})
	service.Next(transcriptiontest.Answer{Text: question})
	c.speaks(sentence[:16000])
	c.send("user-stopped-speaking", nil)
	require.Equal(t, question, c.final())
	c.hear("nine")
	require.Len(t, service.Got(), 1)
	require.InDelta(t, 32000, len(service.Got()[0].WAV), 1000, "what was said while nobody listened is not sent")

	c.send("user-started-speaking", nil)
	c.await("user-started-speaking", nil)
	s.steers(minted.ID, session.Command{Listening: new(false)})
	c.send("user-stopped-speaking", nil)
	s.steers(minted.ID, session.Command{Listening: new(true)})
	c.speaks(sentence)
	c.ask()
	require.Len(t, service.Got(), 1, "nothing is pressed")
}

// While the session's owner wants nobody understood no service gets what is said, nor what
// had been said and was not over.
func TestNothingIsSentWhileNobodyIsToBeUnderstood(t *testing.T) {
	t.Parallel()
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, aloud)
	c.send("client-ready", nil)
	sentence := asked(t)
	c.speaks(sentence[:20000])
	c.await("user-started-speaking", nil)
	s.steers(minted.ID, session.Command{Listening: new(false)})
	c.await("user-stopped-speaking", nil)
	c.speaks(sentence[20000:])
	c.ask()
	require.Empty(t, service.Got())
	s.steers(minted.ID, session.Command{Listening: new(true)})
	service.Next(transcriptiontest.Answer{Text: question})
	c.speaks(sentence)
	require.Equal(t, question, c.final())
	require.Len(t, service.Got(), 1)
}
