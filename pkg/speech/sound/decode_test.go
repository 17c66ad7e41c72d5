package sound_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/sound/soundtest"
)

func TestOpusDecoder(t *testing.T) {
	encoder, err := sound.NewOpus(24000)
	require.NoError(t, err)
	decoder, err := sound.NewOpusDecoder(16000)
	require.NoError(t, err)
	var heard []int16
	for n := range 50 {
		tone := make([]int16, 480)
		for i := range tone {
			tone[i] = int16(8000 * math.Sin(2*math.Pi*220*float64(n*480+i)/24000))
		}
		packet, err := encoder.Encode(tone)
		require.NoError(t, err)
		samples, err := decoder.Decode(packet)
		require.NoError(t, err)
		heard = append(heard, samples...)
	}
	f := soundtest.Measure(16000, heard)
	require.InDelta(t, 1, f.Seconds, 0.001)
	require.InDelta(t, 220, f.Pitch, 3)
	require.InDelta(t, -15, f.Level, 1)
}

func FuzzOpusDecoder(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0xfc, 0xff, 0xfe})
	f.Add([]byte("no packet at all"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		decoder, err := sound.NewOpusDecoder(16000)
		require.NoError(t, err)
		samples, err := decoder.Decode(packet)
		require.LessOrEqual(t, len(samples), 16000*120/1000)
		require.True(t, err == nil || samples == nil)
	})
}

// A packet's first bytes say how long it is, and what is none is told before it is decoded.
func TestPacketLasts(t *testing.T) {
	encoder, err := sound.NewOpus(16000)
	require.NoError(t, err)
	packet, err := encoder.Encode(make([]int16, 320))
	require.NoError(t, err)
	lasts, err := sound.PacketLasts(packet)
	require.NoError(t, err)
	require.Equal(t, 20*time.Millisecond, lasts)
	for _, wrong := range [][]byte{nil, {3}, {3, 0}, {0x1b, 63}, make([]byte, sound.MaxPacket+1)} {
		_, err = sound.PacketLasts(wrong)
		require.ErrorIs(t, err, sound.ErrPacket)
	}
}
