package live

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/speech/listening"
	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/sound"
)

// Recognition is what writes down what the visitors of an organization say. One without a
// recognizer is none.
type Recognition struct {
	Recognizer recognition.Recognizer
	// Pause is how long a silence ends a stretch that is recognized on its own.
	Pause time.Duration
	// Late says that words come only once such a stretch has ended.
	Late bool
}

// Who understands what a visitor says (session-ready).
const (
	hearsServer = "server"
	hearsClient = "client"
)

// The frames of a client's sound: their header's length and their kinds, and the flag of
// the last one before a silence that the client makes.
const (
	frameHeader = 8
	userPCM     = 2
	userOpus    = 3
	userLast    = 1
)

// hearing is what hears a room's client; it has a listener once sound comes.
type hearing struct {
	room *room
	by   Recognition

	frames

	mu       sync.Mutex
	listener *listening.Listener
	closed   bool
	// deaf says that nobody is to be understood for now, as the session's owner wants it.
	deaf bool
	// held is while the client's user presses what they speak with, whoever listens.
	held bool
	// dropped are the listeners that are being closed.
	dropped sync.WaitGroup
	// told is the code of the error that the client was told last; empty once words came.
	told string
}

// newHearing makes what hears in a room; nil where nothing does.
func (r *room) newHearing(by Recognition) *hearing {
	if by.Recognizer == nil {
		return nil
	}
	return &hearing{room: r, by: by, frames: newFrames(r.server.now)}
}

// burst is how many milliseconds of packets may come at once, from a client that was held
// up, and leastPacket what each of them counts at least.
const (
	burst       = 4000
	leastPacket = 10
)

// hears is what session-ready tells of who understands speech: nil where it is all text.
func (r *room) hears(p peer) any {
	switch {
	case r.session.Channel == string(conversation.Chat):
		return nil
	case r.hearing != nil && p.plays():
		return hearsServer
	default:
		return hearsClient
	}
}

// hearSound takes a frame of the client's sound. Where nothing here understands it, that
// is said once: sound comes in many frames.
func (r *room) hearSound(data []byte) {
	if r.waitsForConsent() {
		return
	}
	// Once: what is recorded may end meanwhile.
	if k := r.tape.Load(); r.hearing == nil && k != nil {
		if err := k.frame(data); err != nil {
			r.deaf.Do(func() { r.complain("invalid_sound", err.Error()) })
		}
		return
	}
	if r.hearing == nil {
		r.deaf.Do(func() { r.complain("no_recognition", "Nothing here understands speech; send text.") })
		return
	}
	if err := r.hearing.frame(data); err != nil {
		r.deaf.Do(func() { r.complain("invalid_sound", err.Error()) })
	}
}

func (r *room) complain(code, message string) {
	r.tellClient(r.server.message("error", map[string]any{"code": code, "message": message, "fatal": false}))
}

// errFrame says what a frame of sound is.
var errFrame = errors.New("a frame of sound is a header of 8 bytes, of kind 2 or 3, and samples of 16 bits at 16 kHz, or a packet of Opus")

// frame takes a frame of sound.
func (h *hearing) frame(data []byte) error {
	if len(data) < frameHeader || data[0] != userPCM && data[0] != userOpus {
		return errFrame
	}
	h.room.heard.Store(true)
	if payload, l := data[frameHeader:], h.listen(); l != nil && len(payload) > 0 {
		samples, err := h.samples(data[0], payload)
		if err != nil {
			return err
		}
		if len(samples) > 0 {
			h.room.tape.Load().hear(samples)
			l.Hear(samples)
		}
	}
	if data[1]&userLast != 0 {
		h.release()
	}
	return nil
}

// frames are what a client sends of its user's sound.
type frames struct {
	now func() time.Time
	// packets are those that may be decoded, in milliseconds of their sound.
	packets *rate.Limiter

	decoding sync.Mutex
	decoder  *sound.OpusDecoder
}

func newFrames(now func() time.Time) frames {
	return frames{now: now, packets: rate.NewLimiter(rate.Limit(time.Second/time.Millisecond), burst)}
}

// samples are those of a frame; none of what comes faster than it may be decoded.
func (f *frames) samples(kind byte, payload []byte) ([]int16, error) {
	if kind == userOpus {
		lasts, err := sound.PacketLasts(payload)
		if err != nil {
			return nil, errFrame
		}
		if !f.packets.AllowN(f.now(), max(leastPacket, int(lasts/time.Millisecond))) {
			return nil, nil // before it costs anything
		}
		f.decoding.Lock()
		defer f.decoding.Unlock()
		if f.decoder == nil {
			var err error
			if f.decoder, err = sound.NewOpusDecoder(listening.SampleRate); err != nil {
				return nil, err
			}
		}
		samples, err := f.decoder.Decode(payload)
		if err != nil {
			return nil, errFrame
		}
		return samples, nil
	}
	if len(payload)%2 != 0 {
		return nil, errFrame
	}
	return fromPCM(payload), nil
}

// fromPCM are the samples of little-endian bytes.
func fromPCM(data []byte) []int16 {
	samples := make([]int16, len(data)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return samples
}

// listen is the listener, made with the first sound; nil once the room is
// closed, and while nobody is to be understood.
func (h *hearing) listen() *listening.Listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.deaf {
		return nil
	}
	if h.listener == nil {
		r := h.room
		h.listener = listening.New(listening.Options{
			Recognizer: h.by.Recognizer, Pause: h.by.Pause, Language: h.language, Told: h.hear, Playing: r.loudness,
			Pressed: r.pressed, Most: time.Duration(r.session.MaxDurationS) * time.Second, Clock: r.server.Clock,
		})
		if h.held {
			h.listener.Press() // they have gone on pressing while nobody listened
		}
	}
	return h.listener
}

// language is the one that is spoken, or empty where it may be one of several.
func (h *hearing) language() string {
	if h.room.polyglot {
		return ""
	}
	return h.room.talk.Snapshot().Language
}

// loudness is how loud what is said aloud is at the client now.
func (r *room) loudness() float64 {
	if r.voice == nil {
		return 0
	}
	return r.voice.Loudness()
}

// press is called when the client's user presses or releases what they speak with. It says
// whether that was for the listener, rather than for the conversation.
func (h *hearing) press(m conversation.ClientMessage) bool {
	if !h.room.pressed {
		return false // a client that recognizes speech itself
	}
	switch m.Type {
	case conversation.UserStartedSpeaking:
		h.hold()
	case conversation.UserStoppedSpeaking:
		h.release()
	default:
		return false
	}
	return true
}

// hold begins what is said while a button is pressed.
func (h *hearing) hold() {
	h.mu.Lock()
	h.held = true
	h.mu.Unlock()
	if l := h.listen(); l != nil {
		l.Press()
	}
}

// release ends what is being said, as where the client is gone.
func (h *hearing) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = false
	if h.listener != nil {
		h.listener.Release()
	}
}

// listens is called when the session's owner wants the user understood, or not any more:
// then what was heard and is not recognized yet is dropped too. It does not wait, since a
// recognizer may be long in ending; what it answers is closed once no service gets any of it.
func (h *hearing) listens(wanted bool) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	quiet := make(chan struct{})
	h.deaf = !wanted
	if wanted || h.listener == nil {
		close(quiet)
		return quiet
	}
	l := h.listener
	h.listener = nil
	l.Stop()
	h.dropped.Go(func() {
		defer close(quiet)
		l.Close()
	})
	return quiet
}

// close ends all that listens, and waits for it.
func (h *hearing) close() {
	h.mu.Lock()
	h.closed = true
	l := h.listener
	h.listener = nil
	h.mu.Unlock()
	if l != nil {
		l.Close()
	}
	h.dropped.Wait()
}

// noSegment is the number of no stretch of speech: nothing is heard any more.
const noSegment = -1

// hear tells the conversation what was heard.
func (h *hearing) hear(e listening.Event) {
	talk := h.room.talk
	switch e.Kind {
	case listening.Began:
		talk.Hear(conversation.Heard{Kind: conversation.VoiceBegan, Segment: e.Segment, Ago: e.Ago, Pressed: h.room.pressed, Late: h.by.Late})
	case listening.Ended:
		talk.Hear(conversation.Heard{Kind: conversation.VoiceEnded, Segment: e.Segment, Ago: e.Ago})
	case listening.Words:
		talk.Hear(conversation.Heard{Kind: conversation.WordsHeard, Segment: e.Segment, Text: e.Text, Whole: e.Whole, Failed: e.Err != nil})
		h.judge(e)
	case listening.Failed:
		talk.Hear(conversation.Heard{Kind: conversation.WordsHeard, Segment: noSegment, Whole: true, Failed: true})
		h.fail("recognition_limit", "You have spoken for as long as this conversation may hear; please type.")
	}
}

// judge tells the client where what they said was not understood.
func (h *hearing) judge(e listening.Event) {
	switch {
	case errors.Is(e.Err, recognition.ErrLeftAlone):
		h.fail("recognition_unavailable", "Speech is not understood right now; please type.")
	case e.Err != nil:
		h.room.server.Log.Warn("failed to recognize speech", "session", h.room.session.ID.String(), "code", string(upstream.CodeOf(e.Err)), "error", e.Err)
		h.fail("recognition_failed", "What you said was not understood; please say it again, or type.")
	case e.Text != "":
		h.told = ""
	}
}

// fail tells the client what is wrong, once until something else is.
func (h *hearing) fail(code, message string) {
	if h.told != code {
		h.told = code
		h.room.complain(code, message)
	}
}
