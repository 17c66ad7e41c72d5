package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/sound"
)

// Packets are decoded as fast as they may be spoken, after a burst; more of them cost nothing.
func TestPacketsAreBoundedBeforeTheyAreDecoded(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Now())
	h := (&room{server: &Server{Options: Options{Clock: c}}}).newHearing(Recognition{Recognizer: &recognition.Recordings{}})
	encoder, err := sound.NewOpus(16000)
	require.NoError(t, err)
	packet, err := encoder.Encode(make([]int16, 320))
	require.NoError(t, err)
	decoded := func() (n int) {
		for range 1000 {
			samples, err := h.samples(userOpus, packet)
			require.NoError(t, err)
			if len(samples) > 0 {
				n++
			}
		}
		return n
	}
	require.Equal(t, 200, decoded(), "four seconds at once")
	c.Step(time.Second)
	require.Equal(t, 50, decoded(), "and then a second's a second")
	_, err = h.samples(userOpus, make([]byte, sound.MaxPacket+1))
	require.ErrorIs(t, err, errFrame)
}
