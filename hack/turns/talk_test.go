package turns

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/listening"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/vad"
)

// scene is one conversation: what the avatar says at its beginning, and the visitor then.
type scene struct {
	language string
	// tells is what the avatar says, of sentences; nil for nothing. answers is how any
	// other thing that it says sounds.
	tells   []*line
	answers *line
	// says are the visitor's lines by when each begins, in order.
	says    []*line
	at      []time.Duration
	streams bool
	// echo and noise are levels in the microphone, in dB of full scale; 0 for none.
	echo, noise float64
	lasts       time.Duration
}

// outcome is what came of a scene.
type outcome struct {
	// interrupted is when the avatar was silenced, and soft when it spoke softly, from the
	// scene's beginning; negative where it was not.
	interrupted, soft time.Duration
	// turns are what the visitor was understood to have said, and taken when.
	turns []string
	taken []time.Duration
	// ended are when the visitor's lines ended.
	ended []time.Duration
	// answered is how often the avatar said something besides what it tells.
	answered int
}

// forgetful is a journal of nothing.
type forgetful struct{}

func (forgetful) Keep(context.Context, session.Turn) error       { return nil }
func (forgetful) Gap(context.Context, string, string) error      { return nil }
func (forgetful) Collected(context.Context, session.Found) error { return nil }

// loudspeaker is a playout.Player as a conversation's Sound.
type loudspeaker struct{ *playout.Player }

func (l loudspeaker) Say(s conversation.Sentence) { l.Player.Say(playout.Sentence(s)) }

// play plays a scene where time passes by itself.
func play(t *testing.T, s scene) (o outcome) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { o = perform(s) })
	return o
}

// stage is a scene that is played.
type stage struct {
	scene
	room  *room
	talk  *conversation.Conversation
	mu    sync.Mutex
	o     outcome
	told  map[id.Turn]bool
	whole string
}

func perform(s scene) outcome {
	g := &stage{scene: s, told: map[id.Turn]bool{}}
	g.o.interrupted, g.o.soft = -1, -1
	lines := replay{"": s.answers}
	level := 1.0
	for _, l := range s.tells {
		lines[l.text], level = l, l.level
		g.whole = strings.TrimSpace(g.whole + " " + l.text)
	}
	g.room = newRoom(s.echo, s.noise, level)
	for i, l := range s.says {
		g.o.ended = append(g.o.ended, g.room.says(l, s.at[i]))
	}
	player := playout.New(playout.Options{
		Speaker: lines, Voice: func(string) speaker.Request { return speaker.Request{} }, Client: g.room, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
		Progress: g.progress,
	})
	defer player.Close()
	_ = player.Connect(playout.PCM)
	g.talk = conversation.New(g.config(loudspeaker{player}))
	running, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.talk.Run(running)
	}()
	defer func() { cancel(); <-done }()
	ear := listening.New(listening.Options{
		Recognizer: &knowing{streams: s.streams, heard: g.heard}, Language: func() string { return s.language }, Playing: player.Loudness,
		Told: g.hears, Clock: clock.RealClock{}, Pause: map[bool]time.Duration{true: vad.Hangover, false: 400 * time.Millisecond}[s.streams],
	})
	defer ear.Close()
	g.talk.Receive(conversation.ClientMessage{Type: conversation.ClientReady, Audio: []string{"pcm"}})
	if len(s.tells) > 0 {
		g.talk.Say(conversation.Say{Text: g.whole, Interruptible: true, Record: true})
	}
	g.pass(player, ear)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.room.softAt.IsZero() {
		g.o.soft = g.room.softAt.Sub(g.room.began)
	}
	return g.o
}

// pass lets time pass: the microphone sends what it hears, and the client tells what it played.
func (g *stage) pass(player *playout.Player, ear *listening.Listener) {
	for n := 0; time.Since(g.room.began) < g.lasts; n++ {
		<-time.After(vad.Frame)
		ear.Hear(g.room.frame())
		if n%12 != 0 {
			continue
		}
		if turn, at := g.room.position(); !turn.IsZero() && at > 0 {
			player.Played(turn, at)
			g.talk.Receive(conversation.ClientMessage{Type: conversation.Playback, Turn: turn, PlayedMs: at.Milliseconds()})
		}
	}
}

// config is of a conversation with a persona as it is made unless somebody says otherwise.
func (g *stage) config(s conversation.Sound) conversation.Config {
	return conversation.Config{
		Session: conversation.Facts{ID: id.NewSession(), Language: g.language, Channel: conversation.Voice},
		Persona: persona.Definition{
			Greeting:     persona.Greeting{Mode: "none"},
			Knowledge:    persona.Knowledge{Mode: "strict", Retrieval: "balanced"},
			Conversation: persona.Conversation{Patience: "medium", Interruptible: "medium", MinInterruptWords: 2, EndpointMs: 600, MaxTurnS: 60},
			Settings:     persona.Settings{Language: g.language, Speed: 1},
		},
		PersonaName: "Mia", Journal: forgetful{}, Sound: s, Clock: clock.RealClock{}, Send: g.receive,
	}
}

func (g *stage) progress(p playout.Progress) {
	told := conversation.Sounded{Turn: p.Turn, Number: p.Number, Begin: p.Begin, End: p.End, Whole: p.Whole, Failed: p.Failed}
	for _, w := range p.Words {
		told.Marks = append(told.Marks, conversation.Mark{
			At: time.Duration(w.AtMs) * time.Millisecond, Lasts: time.Duration(w.LastsMs) * time.Millisecond, From: w.From, To: w.To,
		})
	}
	g.talk.Sounded(told)
}

func (g *stage) hears(e listening.Event) {
	kind := map[listening.Kind]conversation.HeardKind{
		listening.Began: conversation.VoiceBegan, listening.Ended: conversation.VoiceEnded, listening.Words: conversation.WordsHeard,
	}[e.Kind]
	g.talk.Hear(conversation.Heard{Kind: kind, Segment: e.Segment, Ago: e.Ago, Late: !g.streams, Text: e.Text, Whole: e.Whole})
}

// receive is the client.
func (g *stage) receive(m conversation.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.room.began)
	switch d := m.Data.(type) {
	case conversation.Interrupted:
		g.room.stop()
		if g.o.interrupted < 0 {
			g.o.interrupted = now + travels
		}
	case conversation.Duck:
		g.room.duck(d.On)
	case conversation.UserTranscription:
		if d.Final {
			g.o.turns, g.o.taken = append(g.o.turns, d.Text), append(g.o.taken, now)
		}
	case conversation.BotText:
		if !d.Final && !strings.Contains(g.whole, d.Text) && !g.told[d.Turn] {
			g.told[d.Turn] = true
			g.o.answered++
		}
	}
}

// heard are the words in the room: the visitor's, or where there are none, the echo's.
func (g *stage) heard(from, to time.Time) (words []heardWord) {
	within := func(w heardWord) bool {
		return !w.at.Before(from.Add(-100*time.Millisecond)) && !w.at.Add(w.end-w.begin).After(to)
	}
	for _, w := range g.room.theirs {
		if within(w) {
			words = append(words, w)
		}
	}
	if len(words) > 0 || g.echo == 0 {
		return words
	}
	g.room.mu.Lock()
	defer g.room.mu.Unlock()
	if g.room.origin.IsZero() {
		return nil
	}
	at := g.room.origin.Add(comesBack)
	for _, l := range g.tells {
		for _, w := range l.words {
			if word := (heardWord{w, at.Add(w.begin)}); within(word) {
				words = append(words, word)
			}
		}
		at = at.Add(time.Duration(len(l.samples))*time.Second/listening.SampleRate + 250*time.Millisecond)
	}
	return words
}
