package live

import (
	"maps"
	"sync/atomic"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/speaker"
)

// Voice is what speaks for a session: who says it, and with what voice in a language.
type Voice struct {
	Speaker speaker.Speaker
	In      func(language string) speaker.Request
	// Pace is a speed within what the voice can do: a persona's is one that the lead of a duo can. nil where any is.
	Pace func(speed float64) float64
}

// pronouncing is the voice of a persona that says words in its own way, which comes before the voice's.
func (v Voice) pronouncing(own persona.Pronunciations) Voice {
	if in := v.In; in != nil && len(own) > 0 {
		v.In = func(language string) speaker.Request {
			r := in(language)
			r.Pronunciations = append(own.Of(language), r.Pronunciations...)
			return r
		}
	}
	return v
}

// voice is what a room's conversation is said aloud with; it implements
// conversation.Sound and playout.Client.
type voice struct {
	*playout.Player
	room *room
}

// newVoice makes what speaks in a room; nil where nothing does.
func (r *room) newVoice(v Voice) *voice {
	if v.Speaker == nil || r.session.Channel == string(conversation.Chat) {
		return nil
	}
	out := &voice{room: r}
	out.Player = playout.New(playout.Options{
		Speaker: v.Speaker, Voice: v.In, Hosts: r.hostVoices, Client: out, Clock: r.server.Clock,
		Log:   r.server.Log.With("session", r.session.ID.String()),
		Heard: heard{r},
		Progress: func(p playout.Progress) {
			told := conversation.Sounded{
				Turn: p.Turn, Number: p.Number, Begin: p.Begin, End: p.End, Whole: p.Whole, Failed: p.Failed,
				Marks: make([]conversation.Mark, len(p.Words)),
			}
			for i, w := range p.Words {
				told.Marks[i] = conversation.Mark{
					At: time.Duration(w.AtMs) * time.Millisecond, Lasts: time.Duration(w.LastsMs) * time.Millisecond, From: w.From, To: w.To,
				}
			}
			r.talk.Sounded(told)
		},
	})
	return out
}

// Say implements conversation.Sound.
func (v *voice) Say(s conversation.Sentence) { v.Player.Say(playout.Sentence(s)) }

// Announce implements playout.Client.
func (v *voice) Announce(turn id.Turn, stream uint16) {
	v.room.tellClient(v.room.server.message("bot-audio", map[string]any{"turnId": turn, "stream": stream}))
}

// Visemes implements playout.Client.
func (v *voice) Visemes(turn id.Turn, items []speaker.Viseme) {
	type viseme struct {
		T int64   `json:"t"`
		V string  `json:"v"`
		W float64 `json:"w"`
	}
	told := make([]viseme, len(items))
	for i, item := range items {
		told[i] = viseme{item.AtMs, item.Shape, item.Weight}
	}
	v.room.tellClient(v.room.server.message("visemes", map[string]any{"turnId": turn, "items": told}))
}

// Frame implements playout.Client.
func (v *voice) Frame(data []byte, of playout.Format, stopped *atomic.Bool) {
	v.room.tellClient(frame{data: data, binary: true, track: of == playout.Track, stopped: stopped})
}

// Backlog implements playout.Client.
func (v *voice) Backlog() int {
	v.room.mu.Lock()
	defer v.room.mu.Unlock()
	if s, ok := v.room.client.(*socket); ok && !s.direct.isOpen() {
		return len(s.out)
	}
	return 0
}

// tellClient sends a message to the client alone.
func (r *room) tellClient(f frame) {
	r.tape.Load().message(f)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		r.client.send(f)
	}
}

// sound is what session-ready tells of the sound that is to come: nil where there is none.
func (r *room) sound(p peer, f playout.Format) any {
	if r.voice == nil || f == playout.None || !p.plays() || !r.speaks(r.session.Language) {
		return nil
	}
	return map[string]any{"format": f, "sampleRate": f.Rate(), "channels": 1}
}

func (r *room) speaks(language string) bool { return r.said.Speaker.Speaks(language) }

// unheard notes that nobody plays sound, until a client says that it does.
func (r *room) unheard() {
	if r.voice != nil {
		r.listening.Lock()
		defer r.listening.Unlock()
		_ = r.voice.Connect(playout.None)
	}
}

// listens notes which sound the client plays. One that plays another than it was told of
// is told again: of what comes over its socket, even where it has a track now.
func (r *room) listens(preferred []string) {
	f := playout.Choose(preferred)
	if r.voice == nil || f == playout.None {
		return
	}
	r.listening.Lock()
	defer r.listening.Unlock()
	r.mu.Lock()
	client, welcome := r.client, r.welcome
	r.plays = preferred
	r.mu.Unlock()
	if client == nil || !client.plays() {
		return
	}
	if sound := r.sound(client, f); sound != nil && f != announced {
		told := maps.Clone(welcome)
		told["audio"], told["recording"] = sound, r.recording(client)
		client.send(r.server.message("session-ready", told))
	}
	r.play(client, f)
}

// play has sound come in a client's format, or in the way that it carries it. The lock of listening is held.
func (r *room) play(client peer, f playout.Format) { r.connected(r.voice.Connect(client.carries(f))) }

func (r *room) connected(err error) {
	if err != nil {
		r.server.Log.Error("failed to make sound for a client", "session", r.session.ID.String(), "error", err)
	}
}

// relisten notes that the sound goes another way to a client that plays it.
func (r *room) relisten() {
	r.reroute(func(f playout.Format) error { return r.voice.Connect(f) })
}

// resound is relisten where who played it is gone: what was not heard of a turn comes again, from a moment of it on.
func (r *room) resound(turn id.Turn, heard time.Duration) {
	r.reroute(func(f playout.Format) error { return r.voice.Rewind(turn, heard, f) })
}

// reroute connects a client that plays sound in the way that it carries it now.
func (r *room) reroute(connect func(playout.Format) error) {
	r.listening.Lock()
	defer r.listening.Unlock()
	r.mu.Lock()
	client, f := r.client, playout.Choose(r.plays)
	r.mu.Unlock()
	if client != nil && client.plays() && f != playout.None {
		r.connected(connect(client.carries(f)))
	}
}

// announced is the format that a client is told of before it said what it plays.
const announced = playout.Opus
