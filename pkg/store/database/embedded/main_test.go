package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// roleVariable makes the test binary play another program's part.
const roleVariable = "EMBEDDED_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "parent":
		runParent()
	case "cockroach":
		runCockroach()
	default:
		goleak.VerifyTestMain(m)
	}
}

// runParent starts a server, says so, and waits to be killed.
func runParent() {
	s, err := Start(context.Background(), Options{Dir: os.Args[1]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.PID())
	select {}
}

// newDir returns a directory for a server that does not exist yet and that only
// this user can reach. When the test ends nothing may run in it any more.
func newDir(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "data")
	requireNothingLeft(t, dir)
	return dir
}

func requireNothingLeft(t *testing.T, dir string) {
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return len(processesIn(dir)) == 0 },
			20*time.Second, 20*time.Millisecond, "processes left in %s: %v", dir, processesIn(dir))
	})
}

// processesIn returns the processes that work in the directory or mention it in
// their arguments, where the system tells.
func processesIn(dir string) []string {
	var found []string
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		arguments, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if strings.HasPrefix(cwd, dir) || bytes.Contains(arguments, []byte(dir)) {
			found = append(found, filepath.Base(p)+" "+string(arguments))
		}
	}
	return found
}

// begin starts a server that is stopped when the test ends.
func begin(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := attempt(t, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop(context.Background())) })
	return s
}

func attempt(t *testing.T, o Options) (*Server, error) {
	o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	return Start(t.Context(), o)
}

func end(t *testing.T, s *Server) {
	t.Helper()
	require.NoError(t, s.Stop(t.Context()))
	require.True(t, closed(s.Done()))
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func requireDone(t *testing.T, s *Server) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		require.Fail(t, "the server has not ended")
	}
}

func open(t *testing.T, s *Server, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(database))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, s *Server, sql string) {
	t.Helper()
	conn := open(t, s, "postgres")
	defer conn.Close(t.Context())
	_, err := conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func ask(t *testing.T, s *Server, database, sql string) string {
	t.Helper()
	conn := open(t, s, database)
	defer conn.Close(t.Context())
	var answer string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}

// writeNote commits a row that requireNote finds.
func writeNote(t *testing.T, s *Server, text string) {
	t.Helper()
	execute(t, s, `CREATE TABLE IF NOT EXISTS note (text text)`)
	execute(t, s, `INSERT INTO note VALUES ('`+text+`')`)
}

func requireNote(t *testing.T, s *Server, text string) {
	t.Helper()
	require.Equal(t, "1", ask(t, s, "postgres", `SELECT count(*)::text FROM note WHERE text = '`+text+`'`))
}

// asRole returns a command that runs the test binary in another part.
func asRole(t *testing.T, role string, arguments ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(binary, arguments...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	require.NoError(t, err, text)
	return n
}
