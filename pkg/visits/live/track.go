package live

import (
	"encoding/binary"
	"time"

	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/sound"
)

// track is where the avatar's sound is on a WebRTC track, straight to a client or into a media
// server's room. Its timestamps go with the clock; where nothing is said, nothing is sent.
type track struct {
	server *Server
	// carrier sends the packets, and tell the messages that go with them.
	carrier carrier
	tell    func(frame)
	// began is when the timestamp was 0, and next the one after what was sent.
	began time.Time
	next  int64
	// stream is the turn's that is being sent; 0 for none.
	stream uint16
}

// carrier sends packets of Opus (soundtrack.Sender).
type carrier interface {
	Play(packet []byte, timestamp uint32, begins bool) error
}

// slack is how late a packet may be before its turn is told to go on later: what is less is
// made up for by the browser.
const slack = 40 * time.Millisecond

// silence is a packet of Opus of 20 ms without sound. Some follow where sound ends, or a
// browser would draw out the last of it.
var silence = []byte{0xf8, 0xff, 0xfe}

const silences = 3

func (s *Server) newTrack(c carrier, tell func(frame)) track {
	return track{server: s, carrier: c, tell: tell, began: s.Clock.Now()}
}

// samples are those of a time on the track.
func samples(d time.Duration) int64 { return int64(d) * soundtrack.Rate / int64(time.Second) }

// play sends a frame of sound (playout.Player) as a packet of the track. Where that does not
// follow on what was sent, the client is told which moment of the turn it is.
func (t *track) play(f frame) error {
	if f.stopped != nil && f.stopped.Load() || len(f.data) < playout.HeaderBytes {
		return nil
	}
	isLast, stream, at := frameHead(f)
	packet := f.data[playout.HeaderBytes:]
	if len(packet) > 0 {
		due := samples(t.server.Clock.Since(t.began))
		begins := stream != t.stream || due-t.next > samples(slack)
		if begins {
			t.next, t.stream = max(t.next, due), stream
			t.say(stream, at, false)
		}
		if err := t.carrier.Play(packet, uint32(t.next), begins); err != nil {
			return err
		}
		t.next += soundtrack.PacketSamples
		at += sound.OpusMs
	}
	if isLast {
		t.say(stream, at, true)
		return t.fallSilent()
	}
	return nil
}

// frameHead reads the header of a frame of sound: whether it is its turn's last one, its stream,
// and the milliseconds from the turn's first sample to it.
func frameHead(f frame) (isLast bool, stream uint16, at int64) {
	return f.data[1]&1 == 1, binary.BigEndian.Uint16(f.data[2:]), int64(binary.BigEndian.Uint32(f.data[4:]))
}

// say says that a moment of a turn is at the next timestamp. The turn ends there where it
// is the last one.
func (t *track) say(stream uint16, at int64, last bool) {
	t.tell(t.server.message("bot-track", map[string]any{"stream": stream, "t": at, "rtp": uint32(t.next), "last": last}))
}

// fallSilent ends what is being said.
func (t *track) fallSilent() error {
	if t.stream == 0 {
		return nil
	}
	t.stream = 0
	return t.hush()
}

// hush sends a moment of silence.
func (t *track) hush() error {
	for range silences {
		if err := t.carrier.Play(silence, uint32(t.next), false); err != nil {
			return err
		}
		t.next += soundtrack.PacketSamples
	}
	return nil
}
