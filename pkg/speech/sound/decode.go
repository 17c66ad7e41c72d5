package sound

import (
	"errors"
	"fmt"

	"github.com/thesyncim/gopus"
)

// errDecoder says that the decoder stumbled over a packet.
var errDecoder = errors.New("the decoder failed")

// OpusDecoder makes mono samples out of packets, which may come from anywhere.
type OpusDecoder struct {
	decoder *gopus.Decoder
	samples []int16
}

// longestPacket is how long the sound of a packet can be, in milliseconds.
const longestPacket = 120

// NewOpusDecoder makes a decoder that gives samples at a rate of Opus: 8, 12, 16, 24 or
// 48 kHz.
func NewOpusDecoder(rate int) (*OpusDecoder, error) {
	decoder, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(rate, 1))
	if err != nil {
		return nil, err
	}
	return &OpusDecoder{decoder, make([]int16, rate*longestPacket/1000)}, nil
}

// Decode gives a packet's samples.
func (d *OpusDecoder) Decode(packet []byte) (samples []int16, err error) {
	defer func() { // the packet is a stranger's
		if failure := recover(); failure != nil {
			samples, err = nil, fmt.Errorf("%w: %v", errDecoder, failure)
		}
	}()
	n, err := d.decoder.DecodeInt16(packet, d.samples)
	if err != nil {
		return nil, err
	}
	return append([]int16(nil), d.samples[:n]...), nil
}
