package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A packet of a track does not go over the socket, and a frame of the socket's is not played
// on a track: between the opening of a connection and the change of the sound, some are on their
// way.
func TestFramesOfTheOtherWay(t *testing.T) {
	t.Parallel()
	frames := frame{data: make([]byte, 12), binary: true}
	packet := frame{data: make([]byte, 12), binary: true, track: true}
	d := &direct{} // which has nothing to play on
	for _, d.phase = range []phase{apart, connecting} {
		require.False(t, d.take(frames), "the socket has it")
		require.True(t, d.take(packet), "nobody has it")
	}
	for _, d.phase = range []phase{opened, parting} {
		require.True(t, d.take(frames), "nobody has it")
	}
	require.Panics(t, func() {
		d.phase = opened
		d.take(packet)
	}, "it is played")
}
