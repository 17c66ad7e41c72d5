package embedded

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// engine is what differs between the database servers.
type engine interface {
	name() string

	// initialize makes the data directory ready to start a server in.
	initialize(ctx context.Context) error

	// command is the command line of a server that listens on the port. The
	// process is prepared except for its output.
	command(port int) *exec.Cmd

	// signature is the part of command's command line, delimited by spaces,
	// that no other data directory's server has.
	signature() string

	// recordedPID is the process that the server's pid file names, 0 for none.
	recordedPID() int

	// serving tells whether the server's pid file says that the process has
	// finished starting.
	serving(pid int) bool

	// passing tells from the log of a server that ended during its start
	// whether another attempt can succeed.
	passing(log string) bool

	signals() stopSignals
	url(port int, database string) string
	maintenanceDatabase() string
	createDatabase(ctx context.Context, conn *pgx.Conn, name string) error
}

// stopSignals end a server: fast in good order, immediate without.
type stopSignals struct {
	fast, immediate syscall.Signal
}

// chooseEngine takes the engine that was asked for, else the one that the directory
// already holds data of, then CockroachDB, then PostgreSQL.
func chooseEngine(ctx context.Context, dir *directory, o Options, output *serverLog) (engine, error) {
	switch o.Engine {
	case "", cockroachName, postgresName:
	default:
		return nil, fmt.Errorf("there is no engine %q: it is %s or %s", o.Engine, postgresName, cockroachName)
	}
	if o.Engine == cockroachName && hasCluster(dir) || o.Engine == postgresName && hasStore(dir) {
		return nil, fmt.Errorf("the data was not written by %s", o.Engine)
	}
	if o.Engine == postgresName || hasCluster(dir) {
		return newPostgres(ctx, dir, o, output)
	}
	binary, err := exec.LookPath("cockroach")
	switch {
	case err == nil:
		return newCockroach(dir, binary)
	case hasStore(dir):
		return nil, fmt.Errorf("the data was written by CockroachDB, which is not installed: "+
			"put the program cockroach on the PATH, or use another directory: %w", err)
	case o.Engine == cockroachName:
		return nil, fmt.Errorf("CockroachDB is not installed: put the program cockroach on the PATH: %w", err)
	}
	return newPostgres(ctx, dir, o, output)
}

// The engines' names.
const (
	cockroachName = "cockroach"
	postgresName  = "postgres"
)
