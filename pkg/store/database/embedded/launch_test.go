package embedded

import (
	"net"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// portThief takes the port of the first start after it was chosen.
type portThief struct {
	engine
	t     *testing.T
	taken net.Listener
}

func (e *portThief) command(port int) *exec.Cmd {
	if e.taken == nil {
		var err error
		e.taken, err = net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
		require.NoError(e.t, err)
	}
	return e.engine.command(port)
}

func TestPortTakenDuringStart(t *testing.T) {
	o := Options{Dir: newDir(t)}
	s := begin(t, o)
	last := s.port
	end(t, s)

	output, err := openServerLog(s.dir)
	require.NoError(t, err)
	defer output.Close()
	thief := &portThief{engine: s.engine, t: t}
	again := &Server{engine: thief, dir: s.dir, log: s.log}
	require.NoError(t, again.launch(t.Context(), output))
	defer again.endNow()
	defer thief.taken.Close()
	require.NotEqual(t, last, again.port)
	require.NoError(t, again.ping(t.Context()))
}
