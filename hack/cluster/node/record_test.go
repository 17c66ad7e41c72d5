//go:build linux

package node

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStat(t *testing.T) {
	const rest = " S 1 7 7 0 -1 4194560 10 0 0 0 1 2 0 0 20 0 1 0 98765 1000 200 0"
	for name, line := range map[string]string{
		"plain":                   "42 (etcd)" + rest,
		"a name with spaces":      "42 (a b c)" + rest,
		"a name with parentheses": "42 (x) R 1 (y)" + rest,
	} {
		t.Run(name, func(t *testing.T) {
			started, state, err := parseStat(line)
			require.NoError(t, err)
			require.Equal(t, "98765", started)
			require.Equal(t, "S", state)
		})
	}
	for _, line := range []string{"", "42 etcd", "42 (etcd) S 1 2"} {
		_, _, err := parseStat(line)
		require.Error(t, err, line)
	}
}

func TestRecord(t *testing.T) {
	state := t.TempDir()
	r, err := readRecord(state)
	require.NoError(t, err)
	require.Nil(t, r)

	started, _, err := processOf(os.Getpid())
	require.NoError(t, err)
	mine := record{pid: os.Getpid(), started: started, programs: "/cache/set-1"}
	require.NoError(t, mine.write(state))
	r, err = readRecord(state)
	require.NoError(t, err)
	require.Equal(t, mine, *r)
	require.True(t, r.alive())
}

// A process id that came round again is another's.
func TestRecordOfAnotherProcess(t *testing.T) {
	require.False(t, record{pid: os.Getpid(), started: "1"}.alive())
}

// What must never be killed: all processes, and the machine's first.
func TestRecordNamesNoProcess(t *testing.T) {
	for _, text := range []string{"0\n1\n/p\n", "-1\n1\n/p\n", "1\n1\n/p\n", "x\n1\n/p\n"} {
		state := t.TempDir()
		require.NoError(t, os.WriteFile(recordFile(state), []byte(text), 0o600))
		_, err := readRecord(state)
		require.ErrorContains(t, err, "names no process", text)
	}
}

func TestKill(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	require.NoError(t, cmd.Start())
	started, _, err := processOf(cmd.Process.Pid)
	require.NoError(t, err)

	stranger := record{pid: cmd.Process.Pid, started: started + "0"}
	require.NoError(t, stranger.kill())
	mine := record{pid: cmd.Process.Pid, started: started}
	require.True(t, mine.alive(), "a stranger is left alone")

	// Nobody has waited for it yet: a process that ended is no living one.
	require.NoError(t, mine.kill())
	require.False(t, mine.alive())
	require.Error(t, cmd.Wait())
	require.NoError(t, mine.kill())
}
