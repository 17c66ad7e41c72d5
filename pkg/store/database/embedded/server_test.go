package embedded

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestLifecycle(t *testing.T) {
	t.Setenv("PGDATA", "/nowhere")
	t.Setenv("PGPORT", "1")
	o := Options{Dir: newDir(t), Settings: map[string]string{"max_connections": "30"}}
	s := begin(t, o)
	require.Equal(t, "postgres", s.Engine())
	require.False(t, closed(s.Done()))

	t.Run("databases are made once, in UTF8 and C", func(t *testing.T) {
		require.NoError(t, s.EnsureDatabase(t.Context(), `odd "name"`))
		require.NoError(t, s.EnsureDatabase(t.Context(), `odd "name"`))
		require.Equal(t, "C C UTF8", ask(t, s, `odd "name"`,
			`SELECT datcollate || ' ' || datctype || ' ' || pg_encoding_to_char(encoding)
			 FROM pg_database WHERE datname = current_database()`))
		require.Equal(t, "C", ask(t, s, "postgres",
			`SELECT datcollate FROM pg_database WHERE datname = 'template1'`))
	})
	t.Run("settings", func(t *testing.T) {
		for name, value := range map[string]string{
			"max_connections": "30", "shared_buffers": "128MB", "listen_addresses": "127.0.0.1",
			"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
		} {
			require.Equal(t, value, ask(t, s, "postgres", "SHOW "+name), name)
		}
	})
	t.Run("the password is needed and kept private", func(t *testing.T) {
		u, err := url.Parse(s.URL("postgres"))
		require.NoError(t, err)
		u.User = url.UserPassword("postgres", "guess")
		_, err = pgx.Connect(t.Context(), u.String())
		var e *pgconn.PgError
		require.ErrorAs(t, err, &e)
		require.Equal(t, "28P01", e.Code)
		for name, mode := range map[string]os.FileMode{"": 0o700, "password": 0o600, "server.log": 0o600} {
			info, err := os.Stat(filepath.Join(o.Dir, name))
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), name)
		}
	})
	t.Run("the process stands alone", func(t *testing.T) {
		group, err := syscall.Getpgid(s.PID())
		require.NoError(t, err)
		require.Equal(t, s.PID(), group)
		environment, err := os.ReadFile("/proc/" + strconv.Itoa(s.PID()) + "/environ")
		if err != nil {
			t.Skip("this system does not show environments:", err)
		}
		require.NotContains(t, string(environment), "PGDATA")
		require.NotContains(t, string(environment), "HOME")
	})
	t.Run("a second start is refused", func(t *testing.T) {
		_, err := attempt(t, o)
		require.ErrorIs(t, err, ErrInUse)
		require.ErrorContains(t, err, "by process "+strconv.Itoa(os.Getpid()))
	})
	t.Run("data and port survive a restart", func(t *testing.T) {
		writeNote(t, s, "kept")
		before := s.URL("postgres")
		end(t, s)
		s := begin(t, o)
		require.Equal(t, before, s.URL("postgres"))
		requireNote(t, s, "kept")
	})
}

func TestDurable(t *testing.T) {
	s := begin(t, Options{Dir: newDir(t), Durable: true})
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		require.Equal(t, "on", ask(t, s, "postgres", "SHOW "+name), name)
	}
	require.Equal(t, "200", ask(t, s, "postgres", "SHOW max_connections"))
}

func TestRestarts(t *testing.T) {
	o := Options{Dir: newDir(t)}
	s := begin(t, o)
	writeNote(t, s, "kept")
	port := s.port
	end(t, s)

	t.Run("with another port when the last one is taken", func(t *testing.T) {
		taken, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
		require.NoError(t, err)
		s := begin(t, o)
		require.NotEqual(t, port, s.port)
		requireNote(t, s, "kept")
		other := s.port
		end(t, s)
		require.NoError(t, taken.Close())

		s = begin(t, o)
		require.Equal(t, other, s.port)
		end(t, s)
	})
	t.Run("not with a setting the server rejects, and says why", func(t *testing.T) {
		_, err := attempt(t, Options{Dir: o.Dir, Settings: map[string]string{"max_connections": "many"}})
		require.ErrorIs(t, err, errEnded)
		require.ErrorContains(t, err, `invalid value for parameter "max_connections": "many"`)
		_, err = attempt(t, Options{Dir: o.Dir, Settings: map[string]string{"port": "5432"}})
		require.ErrorContains(t, err, "the setting port is not the caller's to choose")
	})
	t.Run("not with another password, and does not wait", func(t *testing.T) {
		password := filepath.Join(o.Dir, "password")
		text, err := os.ReadFile(password)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(password, []byte("other\n"), 0o600))
		begun := time.Now()
		_, err = attempt(t, o)
		require.ErrorContains(t, err, "password authentication failed")
		require.Less(t, time.Since(begun), 20*time.Second)

		require.NoError(t, os.Remove(password))
		_, err = attempt(t, o)
		require.ErrorContains(t, err, "is missing")
		require.NoError(t, os.WriteFile(password, text, 0o600))
	})
	t.Run("after a stop that could not wait", func(t *testing.T) {
		o.Durable = true
		s, err := attempt(t, o)
		require.NoError(t, err)
		writeNote(t, s, "just before")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, s.Stop(ctx), context.Canceled)
		require.ErrorIs(t, s.Stop(t.Context()), context.Canceled, "the first result stays")
		require.True(t, closed(s.Done()))
		requireNote(t, begin(t, o), "just before")
	})
}
