package embedded

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// installCockroach puts a script on the PATH that stands in for the binary.
func installCockroach(t *testing.T) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	script := "#!/bin/sh\n" + roleVariable + "=cockroach exec '" + binary + "' \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "cockroach"), []byte(script), 0o700))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
}

func TestCockroachArguments(t *testing.T) {
	c, err := newCockroach(&directory{path: "/data"}, "/bin/cockroach")
	require.NoError(t, err)
	cmd := c.command(26257)
	require.Equal(t, []string{
		"/bin/cockroach", "start-single-node", "--insecure",
		"--listen-addr=127.0.0.1:26257", "--http-addr=127.0.0.1:0",
		"--store=path=/data/cockroach", "--pid-file=/data/cockroach.pid",
		"--cache=128MiB", "--max-sql-memory=256MiB",
	}, cmd.Args)
	require.Contains(t, cmd.Env, "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true")
	require.Equal(t, "postgres://root@127.0.0.1:26257/app?sslmode=disable", c.url(26257, "app"))

	_, err = newCockroach(&directory{path: "/da,ta"}, "/bin/cockroach")
	require.ErrorContains(t, err, "comma")
}

func TestTheEngineThatWasAskedFor(t *testing.T) {
	installCockroach(t)
	s := begin(t, Options{Dir: newDir(t), Engine: "postgres"})
	require.Equal(t, "postgres", s.Engine(), "although cockroach is on PATH")
	s = begin(t, Options{Dir: newDir(t), Engine: "cockroach"})
	require.Equal(t, "cockroach", s.Engine())
	dir := newDir(t)
	end(t, begin(t, Options{Dir: dir, Engine: "cockroach"}))
	_, err := attempt(t, Options{Dir: dir, Engine: "postgres"})
	require.ErrorContains(t, err, "the data was not written by postgres")
	t.Setenv("PATH", "/usr/bin:/bin")
	_, err = attempt(t, Options{Dir: newDir(t), Engine: "cockroach"})
	require.ErrorContains(t, err, "CockroachDB is not installed")
	_, err = attempt(t, Options{Dir: newDir(t), Engine: "oracle"})
	require.ErrorContains(t, err, `there is no engine "oracle"`)
}

func TestCockroachLifecycle(t *testing.T) {
	installCockroach(t)
	t.Setenv("PGHOST", "nowhere.invalid")
	o := Options{Dir: newDir(t)}
	s := begin(t, o)
	require.Equal(t, "cockroach", s.Engine())
	require.NoError(t, s.EnsureDatabase(t.Context(), "app"))
	require.Equal(t, `CREATE DATABASE IF NOT EXISTS "app"`, storeFile(t, o.Dir, "statements"))
	require.NotContains(t, storeFile(t, o.Dir, "environment"), "PGHOST")
	_, err := attempt(t, o)
	require.ErrorIs(t, err, ErrInUse)
	end(t, s)
	require.Equal(t, "terminated", storeFile(t, o.Dir, "ended"), "it was drained")

	t.Run("a leftover is stopped", func(t *testing.T) {
		leftover := s.engine.command(s.port)
		require.NoError(t, leftover.Start())
		require.Eventually(t, func() bool { return s.engine.serving(leftover.Process.Pid) },
			20*time.Second, 10*time.Millisecond)
		restarted := begin(t, o)
		require.NoError(t, leftover.Wait(), "it was drained")
		require.NotEqual(t, leftover.Process.Pid, restarted.PID())
		end(t, restarted)
	})
	t.Run("an early end is explained", func(t *testing.T) {
		fail := filepath.Join(o.Dir, storeName, "fail")
		require.NoError(t, os.WriteFile(fail, nil, 0o600))
		_, err := attempt(t, o)
		require.ErrorIs(t, err, errEnded)
		require.ErrorContains(t, err, "ERROR: told to fail")
		require.NoError(t, os.Remove(fail))
	})
	t.Run("its data is not left for another engine", func(t *testing.T) {
		t.Setenv("PATH", "/usr/bin:/bin")
		_, err := attempt(t, o)
		require.ErrorContains(t, err, "put the program cockroach on the PATH")
	})
}

func TestClusterIsNotLeftForCockroach(t *testing.T) {
	o := Options{Dir: newDir(t)}
	end(t, begin(t, o))
	installCockroach(t)
	require.Equal(t, "postgres", begin(t, o).Engine())
}

func storeFile(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, storeName, name))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// runCockroach behaves like CockroachDB as far as this package can tell: it
// serves the wire protocol, then writes its pid file, and ends on SIGTERM.
func runCockroach() {
	if err := standIn(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR:", err)
		os.Exit(1)
	}
}

func standIn(arguments []string) error {
	flags := flag.NewFlagSet("cockroach", flag.ContinueOnError)
	flags.Bool("insecure", false, "")
	flags.String("http-addr", "", "")
	flags.String("cache", "", "")
	flags.String("max-sql-memory", "", "")
	address := flags.String("listen-addr", "", "")
	store := flags.String("store", "", "")
	pidFile := flags.String("pid-file", "", "")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	dir := strings.TrimPrefix(*store, "path=")
	if _, err := os.Stat(filepath.Join(dir, "fail")); err == nil {
		return errors.New("told to fail")
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	listener, err := net.Listen("tcp4", *address)
	if err != nil {
		return err
	}
	go serve(listener, filepath.Join(dir, "statements"))
	time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the fake server takes a while to start
	environment := strings.Join(os.Environ(), "\n")
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "environment"), []byte(environment), 0o600),
		os.WriteFile(*pidFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600))
	if err != nil {
		return err
	}
	<-terminated
	return os.WriteFile(filepath.Join(dir, "ended"), []byte("terminated"), 0o600)
}

// serve accepts every statement and writes down those that create something.
func serve(listener net.Listener, statements string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if err := answer(pgproto3.NewBackend(conn, conn), statements); err != nil {
				fmt.Println(err)
			}
		}()
	}
}

func answer(b *pgproto3.Backend, statements string) error {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return err
	}
	b.Send(&pgproto3.AuthenticationOk{})
	for {
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if err := b.Flush(); err != nil {
			return err
		}
		message, err := b.Receive()
		if err != nil {
			return err
		}
		query, ok := message.(*pgproto3.Query)
		if !ok {
			return nil
		}
		if strings.HasPrefix(query.String, "CREATE") {
			if err := os.WriteFile(statements, []byte(query.String), 0o600); err != nil {
				return err
			}
		}
		b.Send(&pgproto3.CommandComplete{CommandTag: []byte("OK")})
	}
}
