package livetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/encoding/protowire"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/speech/sound"
)

// Manners are how an avatar of a test behaves.
type Manners struct {
	// Pictureless says that it comes and shows nothing.
	Pictureless bool
	// Mute says that it takes sound and plays none of it, from its moment MuteAfter on.
	Mute      bool
	MuteAfter time.Duration
	// Deaf says that it does not answer when it is to be silent.
	Deaf bool
	// Silent says that it tells nothing of its playing, and Answer is what it says in the place of the end of one; empty for the truth.
	Silent bool
	Answer string
}

// Avatar is a participant that renders: it plays the sound that it is sent, as the avatars of LiveKit Agents do.
type Avatar struct {
	manners Manners
	room    *room.Room
	sound   *soundtrack.Sender
	picture *webrtc.TrackLocalStaticRTP
	group   sync.WaitGroup
	stop    context.CancelFunc

	mu sync.Mutex
	// streams are what it was sent, and cleared how often it was to be silent.
	streams []*Heard
	cleared int
	buffer  []int16
	// ended says that the stream that is played is whole.
	ended  bool
	played time.Duration
}

// Heard is a stream that an avatar was sent.
type Heard struct {
	ID, Topic  string
	Attributes map[string]string
	Samples    []int16
	Whole      bool
}

// Perform joins a room with a token as an avatar. It leaves with Leave.
func Perform(ctx context.Context, g *egress.Guard, url, token string, m Manners) (*Avatar, error) {
	a := &Avatar{manners: m}
	var err error
	if a.sound, err = soundtrack.NewSender("voice", "avatar"); err != nil {
		return nil, err
	}
	tracks := []webrtc.TrackLocal{a.sound.TrackLocalStaticRTP}
	if !m.Pictureless {
		if a.picture, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}, "picture", "avatar"); err != nil {
			return nil, err
		}
		tracks = append(tracks, a.picture)
	}
	a.room, err = room.Join(ctx, room.Options{
		Guard: g, URL: url, Token: token, Topic: "none", Tracks: tracks, Rest: a.take,
		Answers: func(identity, method string) bool {
			return identity == livekit.Persona && method == livekit.ClearBuffer && !m.Deaf
		},
	})
	if err != nil {
		return nil, err
	}
	playing, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	a.group.Go(func() { a.play(playing) })
	a.group.Go(func() { a.listen(playing) })
	return a, nil
}

// Leave leaves the room at once.
func (a *Avatar) Leave() {
	a.stop()
	a.room.Close()
	a.group.Wait()
}

// Gone is closed when it was sent out of the room, or left.
func (a *Avatar) Gone() <-chan struct{} { return a.room.Done() }

// Streams are those that it was sent so far.
func (a *Avatar) Streams() []Heard {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]Heard, len(a.streams))
	for i, s := range a.streams {
		all[i] = *s
	}
	return all
}

// Cleared is how often it was to be silent.
func (a *Avatar) Cleared() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cleared
}

func (a *Avatar) listen(ctx context.Context) {
	for {
		select {
		case e := <-a.room.Events():
			if e.Kind != room.Asked {
				continue
			}
			a.mu.Lock()
			a.cleared++
			playing := len(a.buffer) > 0
			at := a.played
			a.buffer, a.ended, a.played = nil, false, 0
			a.mu.Unlock()
			if playing {
				a.say(ctx, livekit.PlaybackFinished, a.end(at, true))
			}
		case <-a.room.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (a *Avatar) end(at time.Duration, interrupted bool) string {
	if a.manners.Answer != "" {
		return a.manners.Answer
	}
	return fmt.Sprintf(`{"playback_position": %f, "interrupted": %t}`, at.Seconds(), interrupted)
}

func (a *Avatar) say(ctx context.Context, method, payload string) {
	if a.manners.Silent {
		return
	}
	a.group.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, _ = a.room.Ask(ctx, livekit.Persona, method, payload)
	})
}

// take reads the packets of streams.
func (a *Avatar) take(packet []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for field, inner := range fields(packet) {
		m := fields(inner)
		switch field {
		case 13:
			s := &Heard{ID: string(m[1]), Topic: string(m[3]), Attributes: attributes(inner)}
			a.streams = append(a.streams, s)
			a.ended = false
		case 14:
			if s := a.stream(string(m[1])); s != nil {
				for at := 0; at+1 < len(m[3]); at += 2 {
					s.Samples = append(s.Samples, int16(binary.LittleEndian.Uint16(m[3][at:])))
				}
				rate, _ := strconv.Atoi(s.Attributes[livekit.AudioRate])
				if rate == 24000 && s.Topic == livekit.AudioTopic {
					a.buffer = append(a.buffer, s.Samples[len(s.Samples)-len(m[3])/2:]...)
				}
			}
		case 15:
			if s := a.stream(string(m[1])); s != nil {
				s.Whole, a.ended = true, true
			}
		}
	}
}

func (a *Avatar) stream(id string) *Heard {
	for _, s := range a.streams {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// play plays what it has by the clock, and shows something.
func (a *Avatar) play(ctx context.Context) {
	const each = 20 * time.Millisecond
	encoder, err := sound.NewOpus(24000)
	if err != nil {
		return
	}
	tick := time.NewTicker(each)
	defer tick.Stop()
	frames, began := uint32(0), false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if a.picture != nil {
			_ = a.picture.WriteRTP(&rtp.Packet{
				Header: rtp.Header{Version: 2, Marker: true, SequenceNumber: uint16(frames), Timestamp: frames * 1800}, Payload: []byte{0x10, 0, 0, 0},
			})
		}
		samples := make([]int16, 480)
		a.mu.Lock()
		n := copy(samples, a.buffer)
		a.buffer = a.buffer[n:]
		starts := n > 0 && !began
		if n > 0 {
			began = true
			a.played += each
		}
		at := a.played
		finishes := began && n == 0 && a.ended
		if len(a.buffer) == 0 && n == 0 && a.played == 0 {
			began = false // it was cleared
		}
		if finishes {
			began, a.ended, a.played = false, false, 0
		}
		a.mu.Unlock()
		if a.manners.Mute && at > a.manners.MuteAfter {
			clear(samples)
		}
		if packet, err := encoder.Encode(samples); err == nil {
			_ = a.sound.Play(packet, frames*soundtrack.PacketSamples, frames == 0)
		}
		frames++
		if starts {
			a.say(ctx, livekit.PlaybackStarted, "")
		}
		if finishes && !a.manners.Mute {
			a.say(ctx, livekit.PlaybackFinished, a.end(at, false))
		}
	}
}

// fields are the fields of a protobuf message that have a length, the last of each.
func fields(message []byte) map[protowire.Number][]byte {
	all := map[protowire.Number][]byte{}
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return all
		}
		message = message[n:]
		if kind == protowire.BytesType {
			all[field], _ = protowire.ConsumeBytes(message)
		}
		if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
			return all
		}
		message = message[n:]
	}
	return all
}

// attributes are those of a stream's header.
func attributes(header []byte) map[string]string {
	all := map[string]string{}
	for len(header) > 0 {
		field, kind, n := protowire.ConsumeTag(header)
		if n < 0 {
			return all
		}
		header = header[n:]
		if field == 8 {
			inner, _ := protowire.ConsumeBytes(header)
			m := fields(inner)
			all[string(m[1])] = string(m[2])
		}
		if n = protowire.ConsumeFieldValue(field, kind, header); n < 0 {
			return all
		}
		header = header[n:]
	}
	return all
}
