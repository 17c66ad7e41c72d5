package live

import (
	"encoding/binary"
	"time"

	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/visits/rtc"
)

// track is where the avatar's sound is on its WebRTC track. Its timestamps go with the clock;
// where nothing is said, nothing is sent.
type track struct {
	// began is when the timestamp was 0, and next the one after what was sent.
	began time.Time
	next  int64
	// stream is the turn's that is being sent; 0 for none.
	stream uint16
}

// slack is how late a packet may be before its turn is told to go on later: what is less is
// made up for by the browser.
const slack = 40 * time.Millisecond

// silence is a packet of Opus of 20 ms without sound. Some follow where sound ends, or a
// browser would draw out the last of it.
var silence = []byte{0xf8, 0xff, 0xfe}

const silences = 3

func newTrack(now time.Time) track { return track{began: now} }

// samples are those of a time on the track.
func samples(d time.Duration) int64 { return int64(d) * rtc.Rate / int64(time.Second) }

// play sends a frame of sound (playout.Player) as a packet of the track. Where that does not
// follow on what was sent, the client is told which moment of the turn it is. The lock is held.
func (d *direct) play(f frame) {
	if f.stopped != nil && f.stopped.Load() || len(f.data) < playout.HeaderBytes {
		return
	}
	isLast, stream := f.data[1]&1 == 1, binary.BigEndian.Uint16(f.data[2:])
	at, packet := int64(binary.BigEndian.Uint32(f.data[4:])), f.data[playout.HeaderBytes:]
	t := &d.track
	if len(packet) > 0 {
		due := samples(d.room.server.Clock.Since(t.began))
		begins := stream != t.stream || due-t.next > samples(slack)
		if begins {
			t.next, t.stream = max(t.next, due), stream
			d.tellTrack(stream, at, false)
		}
		if d.conn.Play(packet, uint32(t.next), begins) != nil {
			d.part()
			return
		}
		t.next += rtc.PacketSamples
		at += sound.OpusMs
	}
	if isLast {
		d.tellTrack(stream, at, true)
		d.fallSilent()
	}
}

// tellTrack says that a moment of a turn is at the next timestamp. The turn ends there where it
// is the last one.
func (d *direct) tellTrack(stream uint16, at int64, last bool) {
	d.say(d.room.server.message("bot-track", map[string]any{"stream": stream, "t": at, "rtp": uint32(d.track.next), "last": last}))
}

// fallSilent ends what is being said. The lock is held.
func (d *direct) fallSilent() {
	if d.track.stream == 0 || d.phase != opened {
		return
	}
	d.track.stream = 0
	for range silences {
		if d.conn.Play(silence, uint32(d.track.next), false) != nil {
			return
		}
		d.track.next += rtc.PacketSamples
	}
}
