// Package soundtrack has what tracks of speech over WebRTC have in common, whoever is at the
// other end: mono Opus in packets of 20 ms, one stream of it at a time, and bounds for what a
// stranger sends.
package soundtrack

import (
	"errors"
	"sync/atomic"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"golang.org/x/time/rate"
)

// Rate is that of the timestamps, a second; a packet of 20 ms is PacketSamples.
const (
	Rate          = 48000
	PacketSamples = Rate / 50
)

// Sound comes in packets of 10 ms at least; some may come at once after a pause.
const packetsPerSecond, packetsAtOnce = 150, 600

// mtu is the longest packet that is read.
const mtu = 1500

// payload is the payload type of Opus where an offer gives it no other one.
const payload = 111

// Opus is the one codec there is.
var Opus = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: Rate, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1"}

// NewMedia makes what a connection knows of codecs.
func NewMedia() (*webrtc.MediaEngine, error) {
	media := &webrtc.MediaEngine{}
	err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: Opus, PayloadType: payload}, webrtc.RTPCodecTypeAudio)
	return media, err
}

// Sender is a track that is sent. It is safe for concurrent use.
type Sender struct {
	*webrtc.TrackLocalStaticRTP
	sequence atomic.Uint32
}

// NewSender makes a track of a name, which belongs to a stream.
func NewSender(name, stream string) (*Sender, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(Opus, name, stream)
	return &Sender{TrackLocalStaticRTP: track}, err
}

// Play sends a packet of Opus of PacketSamples, which begins at a timestamp; begins says
// that silence was before it.
func (s *Sender) Play(packet []byte, timestamp uint32, begins bool) error {
	return s.WriteRTP(&rtp.Packet{
		Header:  rtp.Header{Version: 2, Marker: begins, SequenceNumber: uint16(s.sequence.Add(1)), Timestamp: timestamp},
		Payload: packet,
	})
}

// ErrFlood says that more came than anybody says.
var ErrFlood = errors.New("more came than anybody says")

// Limit is how many packets of one person may come.
func Limit() *rate.Limiter { return rate.NewLimiter(packetsPerSecond, packetsAtOnce) }

// Receive reads a track until it ends, or until heard answers false. Packets that come after later ones are left
// out, and those of another codec than the one that was agreed upon. The error is ErrFlood, or nil.
func Receive(t *webrtc.TrackRemote, limit *rate.Limiter, heard func(packet []byte) bool) error {
	buffer, last, some := make([]byte, mtu), uint16(0), false
	for {
		n, _, err := t.Read(buffer)
		other := errors.Is(err, webrtc.ErrCodecNotFound)
		if err != nil && !other {
			return nil // the track has ended
		}
		if !limit.Allow() {
			return ErrFlood
		}
		var p rtp.Packet
		if other || p.Unmarshal(buffer[:n]) != nil || len(p.Payload) == 0 {
			continue
		}
		if some && int16(p.SequenceNumber-last) <= 0 {
			continue
		}
		last, some = p.SequenceNumber, true
		if !heard(p.Payload) {
			return nil
		}
	}
}
