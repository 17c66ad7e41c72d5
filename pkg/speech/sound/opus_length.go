package sound

import (
	"errors"
	"time"

	"github.com/thesyncim/gopus"
)

// MaxPacket bounds a packet of Opus, in bytes: three frames of the most that it can need.
const MaxPacket = 3 * 1275

// ErrPacket says that something is no packet of Opus.
var ErrPacket = errors.New("it is no packet of Opus")

// PacketLasts is how long the sound of a packet is, as its first bytes tell; nothing of it
// is decoded.
func PacketLasts(packet []byte) (time.Duration, error) {
	if len(packet) == 0 || len(packet) > MaxPacket {
		return 0, ErrPacket
	}
	toc := gopus.ParseTOC(packet[0])
	frames := 1
	switch toc.FrameCode {
	case 1, 2:
		frames = 2
	case 3:
		if len(packet) < 2 {
			return 0, ErrPacket
		}
		frames = int(packet[1] & 0x3f)
	}
	lasts := time.Duration(frames*toc.FrameSize) * time.Second / 48000
	if lasts <= 0 || lasts > longestPacket*time.Millisecond {
		return 0, ErrPacket
	}
	return lasts, nil
}
