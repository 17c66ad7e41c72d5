package rtc

import (
	"io"
	"sync/atomic"

	"github.com/pion/transport/v4/packetio"
)

// Bounds of the streams that a browser sends, each of which has a number (SSRC) that the
// browser makes up: it sends one of sound, and reports of that and of ours.
const (
	maxStreams = 8
	// maxUnread bounds what waits of a stream to be read, in bytes.
	maxUnread = 64 << 10
)

// streams counts the streams of a connection. pion keeps each until the connection ends,
// whether anybody reads it or not.
type streams struct {
	sound, reports atomic.Int32
	flooded        func()
}

// buffer is where a stream's packets wait: nowhere, where there are too many streams.
func (s *streams) buffer(kind packetio.BufferPacketType, _ uint32) io.ReadWriteCloser {
	count := &s.reports
	if kind == packetio.RTPBufferPacket {
		count = &s.sound
	}
	waiting := packetio.NewBuffer()
	waiting.SetLimitSize(maxUnread)
	if count.Add(1) > maxStreams {
		_ = waiting.Close()
		s.flooded()
	}
	return waiting
}
