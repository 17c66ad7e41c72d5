package soundtrack

import (
	"cmp"
	"io"
	"sync/atomic"

	"github.com/pion/transport/v4/packetio"
)

// Bounds of the streams that the other end sends, each of which has a number (SSRC) that it
// makes up: it sends one of sound, and reports of that and of ours.
const (
	maxStreams = 8
	// maxUnread bounds what waits of a stream to be read, in bytes.
	maxUnread = 64 << 10
)

// Streams counts the streams of a connection. pion keeps each until the connection ends,
// whether anybody reads it or not.
type Streams struct {
	// Most is how many there may be of sound; maxStreams unless given. As many reports there may be.
	Most int32
	// Flooded is called where there are too many.
	Flooded func()

	sound, reports atomic.Int32
}

// Buffer is where a stream's packets wait: nowhere, where there are too many streams.
func (s *Streams) Buffer(kind packetio.BufferPacketType, _ uint32) io.ReadWriteCloser {
	count, most := &s.reports, cmp.Or(s.Most, maxStreams)
	if kind == packetio.RTPBufferPacket {
		count = &s.sound
	}
	waiting := packetio.NewBuffer()
	waiting.SetLimitSize(maxUnread)
	if count.Add(1) > most {
		_ = waiting.Close()
		s.Flooded()
	}
	return waiting
}
