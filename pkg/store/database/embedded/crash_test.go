package embedded

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

func TestKilledServer(t *testing.T) {
	o := Options{Dir: newDir(t), Durable: true}
	s := begin(t, o)
	writeNote(t, s, "committed")
	// A session in the midst of computing notices late that the server is gone,
	// and holds its memory until then.
	busy := open(t, s, "postgres")
	busy.PgConn().Frontend().SendQuery(&pgproto3.Query{String: `SELECT count(*) FROM generate_series(1, 20000000)`})
	require.NoError(t, busy.PgConn().Frontend().Flush())
	require.Eventually(t, func() bool {
		return ask(t, s, "postgres", `SELECT count(*)::text FROM pg_stat_activity
			WHERE state = 'active' AND query LIKE '%generate_series%' AND pid <> pg_backend_pid()`) == "1"
	}, 20*time.Second, 10*time.Millisecond)

	require.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
	requireDone(t, s)
	_, err := attempt(t, o)
	require.ErrorIs(t, err, ErrInUse, "the directory is held until Stop")
	end(t, s)
	requireNote(t, begin(t, o), "committed")
}

// beParent starts a server in a process of its own, which a test can kill.
func beParent(t *testing.T, dir string) (parent *exec.Cmd, server int) {
	t.Helper()
	parent = asRole(t, "parent", dir)
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	t.Cleanup(func() {
		_ = parent.Process.Kill()
		_ = parent.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return parent, atoi(t, line)
}

func TestKilledParent(t *testing.T) {
	o := Options{Dir: newDir(t), Durable: true}
	s := begin(t, o)
	writeNote(t, s, "committed")
	end(t, s)

	t.Run("alone", func(t *testing.T) {
		parent, server := beParent(t, o.Dir)
		_, err := attempt(t, o)
		require.ErrorIs(t, err, ErrInUse)
		require.NoError(t, parent.Process.Kill())
		_ = parent.Wait()
		s := begin(t, o)
		require.NotEqual(t, server, s.PID())
		requireNote(t, s, "committed")
		end(t, s)
	})
	t.Run("and the server ends with it", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("only Linux signals a child when its parent dies")
		}
		parent, server := beParent(t, o.Dir)
		require.NoError(t, parent.Process.Kill())
		_ = parent.Wait()
		require.Eventually(t, func() bool { return commandLine(server) == "" },
			20*time.Second, 10*time.Millisecond)
		require.NoFileExists(t, filepath.Join(o.Dir, clusterName, "postmaster.pid"), "it stopped in good order")
	})
	t.Run("with the server", func(t *testing.T) {
		parent, server := beParent(t, o.Dir)
		require.NoError(t, syscall.Kill(server, syscall.SIGKILL))
		require.NoError(t, parent.Process.Kill())
		_ = parent.Wait()
		requireNote(t, begin(t, o), "committed")
	})
}

// TestLeftoverServer starts a server that nothing ends when its parent dies.
func TestLeftoverServer(t *testing.T) {
	o := Options{Dir: newDir(t), Durable: true}
	s := begin(t, o)
	writeNote(t, s, "committed")
	end(t, s)

	leftover := s.engine.command(s.port)
	require.NoError(t, leftover.Start())
	require.Eventually(t, func() bool { return s.engine.serving(leftover.Process.Pid) },
		20*time.Second, 10*time.Millisecond)

	restarted := begin(t, o)
	require.NoError(t, leftover.Wait(), "it stopped in good order")
	require.NotEqual(t, leftover.Process.Pid, restarted.PID())
	require.Equal(t, s.port, restarted.port)
	requireNote(t, restarted, "committed")
}

func TestRecycledPID(t *testing.T) {
	o := Options{Dir: newDir(t), Durable: true}
	s := begin(t, o)
	writeNote(t, s, "committed")
	require.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
	requireDone(t, s)
	end(t, s)

	stranger := exec.Command("sleep", "60")
	require.NoError(t, stranger.Start())
	t.Cleanup(func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	})
	for name, pid := range map[string]int{"of this process": os.Getpid(), "of a stranger": stranger.Process.Pid} {
		t.Run(name, func(t *testing.T) {
			s, err := attempt(t, o)
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
			requireDone(t, s)
			end(t, s)

			record(t, o.Dir, pid)
			s = begin(t, o)
			requireNote(t, s, "committed")
			end(t, s)
		})
	}
	require.NoError(t, stranger.Process.Signal(syscall.Signal(0)), "it was left alone")
}

// record makes the server's pid file name the process.
func record(t *testing.T, dir string, pid int) {
	t.Helper()
	path := filepath.Join(dir, clusterName, "postmaster.pid")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n")
	require.True(t, found)
	require.NoError(t, os.WriteFile(path, []byte(strconv.Itoa(pid)+"\n"+rest), 0o600))
}
