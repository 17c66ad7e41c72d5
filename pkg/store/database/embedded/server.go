package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// startTimeout bounds Start when its context has no deadline.
	startTimeout = 60 * time.Second

	// immediateGrace is how long a server may take to end after it was told to
	// stop at once. PostgreSQL kills its own children after five seconds.
	immediateGrace = 10 * time.Second
)

// Options say where and how a server runs.
type Options struct {
	// Dir is the directory of the server's data, password and log. It is
	// created, with mode 0700, when it does not exist.
	Dir string

	// Engine is "postgres" or "cockroach"; empty for the one that Dir has data of, else
	// CockroachDB where the program is on PATH, else PostgreSQL.
	Engine string

	// Log receives what this package does. The server's own log lines go to
	// server.log in Dir. Nil discards.
	Log *slog.Logger

	// Durable makes a committed transaction survive every crash. Without it,
	// which suits tests, PostgreSQL waits for no disk: a crash of the server
	// can lose the last moments, a crash of the machine the whole cluster.
	// Stop loses nothing. CockroachDB is always durable: the switch it has is
	// not for users.
	Durable bool

	// Settings are further PostgreSQL settings, such as max_connections.
	// CockroachDB takes none.
	Settings map[string]string
}

// Server is a running database server. On Linux it is also shut down when this
// process dies without stopping it; elsewhere the next Start does that.
type Server struct {
	engine  engine
	dir     *directory
	lock    *lock
	process *process
	port    int
	log     *slog.Logger

	stop    sync.Once
	stopErr error
}

// Start runs a server in the directory and returns when it answers queries. It
// gives up when ctx ends, after a minute if ctx has no deadline; the server
// that it started outlives ctx. The error wraps ErrInUse when another Server
// holds the directory.
func Start(ctx context.Context, o Options) (*Server, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, startTimeout)
		defer cancel()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("embedded database in %q: %w", o.Dir, err)
	}
	return s, nil
}

func start(ctx context.Context, o Options) (_ *Server, err error) {
	dir, err := openDirectory(o.Dir)
	if err != nil {
		return nil, err
	}
	held, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, held.release())
		}
	}()

	output, err := openServerLog(dir)
	if err != nil {
		return nil, err
	}
	// The server has its own copy of the descriptor once it runs.
	defer output.Close()

	e, err := chooseEngine(ctx, dir, o, output)
	if err != nil {
		return nil, err
	}
	if err := stopLeftover(ctx, e, o.Log); err != nil {
		return nil, err
	}
	if err := e.initialize(ctx); err != nil {
		return nil, err
	}
	s := &Server{engine: e, dir: dir, lock: held, log: o.Log}
	if err := s.launch(ctx, output); err != nil {
		return nil, err
	}
	s.log.Info("database server started",
		"engine", s.Engine(), "dir", dir.path, "port", s.port, "pid", s.PID())
	return s, nil
}

// URL returns the connection URL of a database, with the password in it.
func (s *Server) URL(database string) string {
	return s.engine.url(s.port, database)
}

// Engine returns "postgres" or "cockroach".
func (s *Server) Engine() string { return s.engine.name() }

// PID returns the id of the server process.
func (s *Server) PID() int { return s.process.pid() }

// Done is closed when the server process has ended, whether Stop ended it or
// it ended unexpectedly. The directory stays locked until Stop.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// EnsureDatabase creates the database when it does not exist, in UTF8 and with
// the C collation.
func (s *Server) EnsureDatabase(ctx context.Context, name string) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("ensure database %q: %w", name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := s.engine.createDatabase(ctx, conn, name); err != nil {
		return fmt.Errorf("ensure database %q: %w", name, err)
	}
	return nil
}

// connect opens a connection to the database that every server has.
func (s *Server) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, s.engine.url(s.port, s.engine.maintenanceDatabase()))
}

// Stop shuts the server down and releases the directory. Sessions are ended and
// their open transactions rolled back. When ctx ends first the server is
// stopped at once, to recover at its next start, and Stop returns an error that
// wraps the context's. Later calls return the first one's result.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		s.stopErr = errors.Join(s.shutDown(ctx), s.lock.release())
		s.log.Info("database server stopped",
			"engine", s.Engine(), "dir", s.dir.path, "state", s.process.state())
	})
	return s.stopErr
}

func (s *Server) shutDown(ctx context.Context) error {
	signals := s.engine.signals()
	if err := s.process.signal(signals.fast); errors.Is(err, os.ErrProcessDone) {
		<-s.process.done
		return nil
	}
	select {
	case <-s.process.done:
		return nil
	case <-ctx.Done():
	}
	s.endNow()
	return fmt.Errorf("embedded database in %q was stopped at once: %w", s.dir.path, ctx.Err())
}

// endNow ends the server without waiting for a checkpoint.
func (s *Server) endNow() {
	// An error means that the process is gone already, which done tells too.
	_ = s.process.signal(s.engine.signals().immediate)
	select {
	case <-s.process.done:
	case <-time.After(immediateGrace):
		_ = s.process.signal(syscall.SIGKILL)
		<-s.process.done
	}
}
