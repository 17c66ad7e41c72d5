package embedded

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// launchAttempts and launchPause give the orphaned children of a server
	// that was killed 20 seconds to notice.
	launchAttempts = 80
	launchPause    = 250 * time.Millisecond

	// readyPause grows to readyPauseMax while the server starts.
	readyPause    = 10 * time.Millisecond
	readyPauseMax = 250 * time.Millisecond

	connectTimeout = 5 * time.Second
)

// errEnded means that the server ended before it answered.
var errEnded = errors.New("the server ended while starting")

// launch starts the server, again when it ended for a reason that passes.
func (s *Server) launch(ctx context.Context, output *serverLog) error {
	for attempt := 1; ; attempt++ {
		err := s.launchOnce(ctx, output)
		if err == nil {
			return s.dir.write("port", strconv.Itoa(s.port))
		}
		passing := errors.Is(err, errEnded) &&
			(!portFree(s.port) || s.engine.passing(output.tail()))
		if !passing || attempt == launchAttempts {
			return err
		}
		s.log.Debug("starting the database server again", "attempt", attempt, "reason", err)
		select {
		case <-time.After(launchPause):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *Server) launchOnce(ctx context.Context, output *serverLog) (err error) {
	if s.port, err = choosePort(s.dir); err != nil {
		return err
	}
	if err := output.mark(); err != nil {
		return err
	}
	cmd := s.engine.command(s.port)
	cmd.Stdout, cmd.Stderr = output.File, output.File
	if s.process, err = startProcess(cmd, s.engine.signals().fast); err != nil {
		return err
	}
	if err := s.awaitReady(ctx, output); err != nil {
		s.endNow()
		return err
	}
	return nil
}

// awaitReady returns when the server answers a query.
func (s *Server) awaitReady(ctx context.Context, output *serverLog) error {
	reason := errors.New("it has not finished starting")
	for pause := readyPause; ; pause = min(2*pause, readyPauseMax) {
		// Before the server says itself that it serves, whatever listens on
		// the port may be another.
		if s.engine.serving(s.PID()) {
			if reason = s.ping(ctx); reason == nil {
				return nil
			}
			if refused(reason) {
				return reason
			}
		}
		select {
		case <-time.After(pause):
		case <-s.process.done:
			return fmt.Errorf("%w (%s), its log ends with:\n%s", errEnded, s.process.state(), output.tail())
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w (%w), its log ends with:\n%s",
				ctx.Err(), reason, output.tail())
		}
	}
}

func (s *Server) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.Ping(ctx)
}

// refused tells whether the server rejected the password, which waiting does
// not cure.
func refused(err error) bool {
	const invalidPassword = "28P01"
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == invalidPassword
}
