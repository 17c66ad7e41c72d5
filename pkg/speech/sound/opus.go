package sound

import (
	"fmt"

	"github.com/thesyncim/gopus"
)

// OpusMs is how long the sound of a packet is.
const OpusMs = 20

// opusBitrate is that of clear speech, in bits a second; opusComplexity, of 10, is as
// much as is heard at that.
const (
	opusBitrate    = 32000
	opusComplexity = 5
)

// opusRate is what the encoder is given. Given 24 kHz, gopus v0.1.0 mixes noise into the
// sound: it was measured.
const opusRate = 48000

// Opus makes packets of OpusMs out of mono samples, which a decoder plays at 48 kHz.
type Opus struct {
	encoder *gopus.Encoder
	rising  *Resampler
	samples int
	// wide are samples at opusRate that wait, in floating point.
	wide, floats []float32
	packet       []byte
}

// NewOpus makes an encoder for samples at a rate of at most 48 kHz.
func NewOpus(rate int) (*Opus, error) {
	encoder, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: opusRate, Channels: 1, Application: gopus.ApplicationVoIP})
	if err != nil {
		return nil, err
	}
	for _, set := range []func() error{
		func() error { return encoder.SetBitrate(opusBitrate) },
		func() error { return encoder.SetComplexity(opusComplexity) },
		func() error { return encoder.SetFrameSize(opusRate * OpusMs / 1000) },
	} {
		if err := set(); err != nil {
			return nil, err
		}
	}
	return &Opus{
		encoder: encoder, rising: NewResampler(float64(rate), opusRate), samples: rate * OpusMs / 1000, packet: make([]byte, 4000),
		// What the resampler holds back at first is silence.
		wide: make([]float32, reach*opusRate/rate),
	}, nil
}

// Encode makes a packet of exactly as many samples as last OpusMs.
func (o *Opus) Encode(samples []int16) ([]byte, error) {
	if len(samples) != o.samples {
		return nil, fmt.Errorf("a packet is of %d samples, not of %d", o.samples, len(samples))
	}
	o.floats = o.floats[:0]
	for _, s := range samples {
		o.floats = append(o.floats, float32(s)/32768)
	}
	o.wide = o.rising.Push(o.wide, o.floats)
	const count = opusRate * OpusMs / 1000
	n, err := o.encoder.Encode(o.wide[:count], o.packet)
	o.wide = append(o.wide[:0], o.wide[count:]...)
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), o.packet[:n]...), nil
}
