package live_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/synthesis/synthesistest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/connected"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/visits/live/livetest"
)

// speaks is a stage whose processes speak.
func speaks(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, 600)
	s.speaker = espeaktest.Open(t, espeak.Options{})
	return s
}

func aloud(w *session.Session) { w.Channel = "voice" }

// spoken is what a client heard of one turn.
type spoken struct {
	stream  uint16
	samples []int16
	last    bool
	visemes []struct {
		T int64
		V string
		W float64
	}
	words []struct {
		T, D int64
		Text string
	}
}

// listens hears a turn until a message that fn accepts.
func (c *client) listens(fn func(livetest.Message, *spoken) bool) *spoken {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	heard := &spoken{}
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		switch {
		case m.Sound != nil:
			require.Equal(c.t, byte(1), m.Sound[0])
			require.Equal(c.t, heard.stream, binary.BigEndian.Uint16(m.Sound[2:]))
			require.InDelta(c.t, len(heard.samples)/24, binary.BigEndian.Uint32(m.Sound[4:]), 1, "without a gap")
			for at := 8; at < len(m.Sound); at += 2 {
				heard.samples = append(heard.samples, int16(binary.LittleEndian.Uint16(m.Sound[at:])))
			}
			heard.last = m.Sound[1]&1 == 1
		case m.Type == "bot-audio":
			var d struct{ Stream uint16 }
			require.NoError(c.t, json.Unmarshal(m.Data, &d))
			*heard = spoken{stream: d.Stream}
		case m.Type == "visemes":
			var d spoken
			require.NoError(c.t, json.Unmarshal(m.Data, &struct{ Items any }{&d.visemes}))
			heard.visemes = append(heard.visemes, d.visemes...)
		case m.Type == "words":
			var d spoken
			require.NoError(c.t, json.Unmarshal(m.Data, &struct{ Items any }{&d.words}))
			heard.words = append(heard.words, d.words...)
		}
		return fn(m, heard)
	})
	require.NoError(c.t, err)
	return heard
}

// untilLast is until the last frame came, and the words, which no order binds to it.
func untilLast(_ livetest.Message, s *spoken) bool { return s.last && len(s.words) > 0 }

func TestConversationIsHeard(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.pod()
	defer p.Stop()
	_, c := s.visitor(p, aloud)
	require.JSONEq(t, `{"format":"opus","sampleRate":48000,"channels":1}`, string(c.audio))
	c.send("client-ready", map[string]any{"audio": []string{"flac", "pcm"}})
	var again struct {
		Audio       json.RawMessage
		ResumeToken string
	}
	c.await("session-ready", &again)
	require.JSONEq(t, `{"format":"pcm","sampleRate":24000,"channels":1}`, string(again.Audio))
	require.Equal(t, c.resume, again.ResumeToken)

	greeting := c.listens(untilLast) // "Welcome."
	f := soundtest.Measure(speaker.SampleRate, greeting.samples)
	require.InDelta(t, 0.6, f.Seconds, 0.3)
	require.Greater(t, f.Level, -30.0)
	shapes := ""
	for _, v := range greeting.visemes {
		shapes += v.V + " "
	}
	require.Regexp(t, "^(sil )?U E .*PP sil $", shapes, "its w, its e, its m")
	require.Equal(t, "Welcome.", greeting.words[0].Text)

	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	answer := c.listens(untilLast)
	require.Equal(t, greeting.stream+1, answer.stream)
	require.Equal(t, "sil", answer.visemes[len(answer.visemes)-1].V)
	lasts := int64(len(answer.samples) / 24)
	for i, w := range answer.words {
		require.LessOrEqual(t, w.T+w.D, lasts)
		if i > 0 {
			require.GreaterOrEqual(t, w.T, answer.words[i-1].T+answer.words[i-1].D)
		}
	}
}

// Once it was told that a turn was interrupted, a client is sent no more of it, and what it
// played of it is what is kept.
func TestInterruptedSoundEnds(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, aloud)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	turn := s.order(minted.ID, session.Command{Kind: session.SayIt, Text: strings.Repeat("The museum has many rooms. ", 10), Interruptible: true, Record: true})
	heard := c.listens(func(_ livetest.Message, s *spoken) bool {
		return len(s.words) >= 6 && len(s.samples) > 3*speaker.SampleRate/2
	})
	third := heard.words[2]
	c.send("playback", map[string]any{"turnId": turn, "playedMs": third.T + third.D})
	c.send("interrupt", nil)
	var d struct {
		TurnID     id.Turn
		SpokenText string
	}
	c.await("interrupted", &d)
	require.Equal(t, turn, d.TurnID)
	require.Equal(t, "The museum has", d.SpokenText)
	c.send("ping", nil)
	c.listens(func(m livetest.Message, _ *spoken) bool {
		require.Nil(t, m.Sound, "a frame came after the end of its turn")
		return m.Type == "pong"
	})
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	require.NotEmpty(t, c.listens(untilLast).samples)
}

// Who only reads is sent no sound, and neither is anybody in a chat.
func TestNoSoundForWhoOnlyReads(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.pod()
	defer p.Stop()
	for _, channel := range []string{"voice", "chat"} {
		_, c := s.visitor(p, func(w *session.Session) { w.Channel = channel })
		var ready any
		if channel == "chat" {
			require.Equal(t, "null", string(c.audio))
			ready = map[string]any{"audio": []string{"opus"}}
		}
		c.send("client-ready", ready)
		finals := 0
		c.send("user-text", map[string]string{"text": "When does the museum open?"})
		c.listens(func(m livetest.Message, _ *spoken) bool {
			require.Nil(t, m.Sound)
			require.NotContains(t, []string{"bot-audio", "visemes"}, m.Type)
			if m.Type == "bot-text" && strings.Contains(string(m.Data), `"final":true`) {
				finals++
			}
			return finals == 2
		})
		c.Leave()
	}
}

// A language that nothing here speaks is told before anything is said.
func TestLanguageThatIsNotSpoken(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(func(w *session.Session) { w.Channel, w.Language = "voice", "th" })
	require.Equal(t, "null", string(s.connect(p, minted.ID, string(token)).audio))
}

// A client that comes back to another process hears what is said from then on.
func TestSoundAfterTakeover(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p, other := s.pod(), s.pod()
	defer other.Stop()
	minted, c := s.visitor(p, aloud)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	p.Stop()
	back := s.connect(other, minted.ID, c.resume)
	back.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	back.send("user-text", map[string]string{"text": "When does the museum open?"})
	require.NotEmpty(t, back.listens(untilLast).samples)
}

// What is said is a connected service's sound, which the client has before the service is
// through with it; where the service stalls within a sentence the rest of it is said all the
// same.
func TestConversationIsHeardFromAService(t *testing.T) {
	t.Parallel()
	service := synthesistest.Serve(t)
	s := speaks(t)
	builtin := s.speaker
	s.speaker = connected.New(connected.Options{
		Service: synthesis.Client{HTTP: service.Client(), BaseURL: service.URL + "/v1", Model: "tts"},
		Voice:   "alloy", Builtin: builtin, First: 5 * time.Second, Clock: clock.RealClock{},
	})
	p := s.pod()
	defer p.Stop()
	_, c := s.visitor(p, aloud)
	more, never := make(chan struct{}), make(chan struct{})
	tone := synthesistest.Tone(1200 * time.Millisecond)
	service.Next(synthesistest.Answer{Samples: tone, Pieces: 2, Until: more})
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	released := false
	greeting := c.listens(func(m livetest.Message, s *spoken) bool {
		if !released && len(s.samples) > 4800 {
			released = true
			close(more) // so much of it came before the rest
		}
		return untilLast(m, s)
	})
	require.InDelta(t, len(tone), len(greeting.samples), 600)
	require.Equal(t, tone[2000:20000], greeting.samples[2000:20000])
	service.Next(synthesistest.Answer{Samples: synthesistest.Tone(600 * time.Millisecond), Pieces: 2, Until: never})
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	answer := c.listens(func(_ livetest.Message, s *spoken) bool { return s.last && len(s.words) >= 5 })
	require.Equal(t, "Welcome.", service.Asked()[0].Text)
	require.Equal(t, "The museum opens at nine.", service.Asked()[1].Text)
	require.Len(t, service.Asked(), 2, "it is left alone then")
	var said []string
	for _, w := range answer.words {
		said = append(said, strings.Trim(w.Text, "."))
	}
	require.Equal(t, "The museum opens at nine", strings.Join(said[:5], " "))
	require.Greater(t, len(answer.samples), 24000)
}

// A persona says names in its own way, whatever its voice, and writes them as they are.
func TestNamesAreSaidAsThePersonaSaysThem(t *testing.T) {
	t.Parallel()
	service := synthesistest.Serve(t)
	s := speaks(t)
	s.change = func(d *persona.Definition) {
		d.Settings.Pronunciations = persona.Pronunciations{
			{Text: "museum", Say: "mew zee um", Language: "en"}, {Text: "nine", Say: "neuf", Language: "fr"},
		}
	}
	s.speaker = connected.New(connected.Options{
		Service: synthesis.Client{HTTP: service.Client(), BaseURL: service.URL + "/v1", Model: "tts"}, Voice: "alloy", Builtin: s.speaker, First: 5 * time.Second, Clock: clock.RealClock{},
	})
	p := s.pod()
	defer p.Stop()
	_, c := s.visitor(p, aloud)
	for range 2 {
		service.Next(synthesistest.Answer{Samples: synthesistest.Tone(1200 * time.Millisecond)})
	}
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	answer := c.listens(func(_ livetest.Message, s *spoken) bool { return s.last && len(s.words) >= 5 })
	require.Equal(t, "The mew zee um opens at nine.", service.Asked()[1].Text)
	require.Equal(t, "museum", answer.words[1].Text)
}
