package tape

import (
	"encoding/binary"
	"errors"
	"time"
)

// Piece is some seconds of a recording.
type Piece struct {
	// At is where it begins, from the recording's zero.
	At time.Duration
	// Packets are of Opus, each of PacketMs, one after the other.
	Packets [][]byte
	// Track are the items of the face's track, a line of JSON each.
	Track []byte
}

// PacketMs is how long the sound of a packet is.
const PacketMs = 20

// Lasts is how long the piece's sound is.
func (p *Piece) Lasts() time.Duration {
	return time.Duration(len(p.Packets)) * PacketMs * time.Millisecond
}

// errPiece says that something is no piece.
var errPiece = errors.New("it is no piece of a recording")

// Marshal writes a piece's track and packets: the length of the track in 4 bytes, the track, and
// each packet with its length in 2 bytes before it, all big-endian.
func (p *Piece) Marshal() []byte {
	size := 4 + len(p.Track)
	for _, packet := range p.Packets {
		size += 2 + len(packet)
	}
	out := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(len(p.Track)))
	out = append(out, p.Track...)
	for _, packet := range p.Packets {
		out = binary.BigEndian.AppendUint16(out, uint16(len(packet)))
		out = append(out, packet...)
	}
	return out
}

// Unmarshal reads what Marshal wrote.
func (p *Piece) Unmarshal(data []byte) error {
	if len(data) < 4 {
		return errPiece
	}
	length := int(binary.BigEndian.Uint32(data))
	if data = data[4:]; len(data) < length {
		return errPiece
	}
	p.Track, data = data[:length], data[length:]
	p.Packets = nil
	for len(data) > 0 {
		if len(data) < 2 {
			return errPiece
		}
		length := int(binary.BigEndian.Uint16(data))
		if data = data[2:]; len(data) < length {
			return errPiece
		}
		p.Packets = append(p.Packets, data[:length])
		data = data[length:]
	}
	return nil
}
