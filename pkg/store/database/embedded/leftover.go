package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
)

const (
	// leftoverPatience is how long a leftover server may take to stop in good
	// order before it is told to stop at once.
	leftoverPatience = 20 * time.Second

	leftoverPoll = 20 * time.Millisecond
)

// stopLeftover ends a server that still runs in the directory because its
// parent died. It is not adopted: only a child of this process has this
// process's settings, writes to its log, can be waited for, and ends with it.
//
// A pid file can outlive its server, and the number can belong to any process
// by then. Only one that was started on this directory is touched. Should that
// be misjudged, the servers still refuse to share a directory: PostgreSQL by
// its shared memory segment, CockroachDB by a lock on its store.
func stopLeftover(ctx context.Context, e engine, log *slog.Logger) error {
	pid := e.recordedPID()
	if pid == 0 {
		return nil
	}
	// The handle comes before the check, so that it is the checked process
	// that gets the signal.
	leftover, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer leftover.Release()
	if !runs(pid, e) {
		return nil
	}
	log.Info("stopping the database server of an earlier run", "engine", e.name(), "pid", pid)
	if err := leftover.Signal(e.signals().fast); err != nil && runs(pid, e) {
		return fmt.Errorf("a server still runs here as process %d and cannot be stopped: %w", pid, err)
	}
	atOnce := time.After(leftoverPatience)
	for runs(pid, e) {
		select {
		case <-time.After(leftoverPoll):
		case <-atOnce:
			// An error means that it is gone, which the loop finds out.
			_ = leftover.Signal(e.signals().immediate)
		case <-ctx.Done():
			return fmt.Errorf("a server still runs here as process %d and does not stop: %w", pid, ctx.Err())
		}
	}
	return nil
}

// runs tells whether the process is a server on the engine's data directory.
func runs(pid int, e engine) bool {
	return strings.Contains(commandLine(pid), " "+e.signature()+" ")
}
