package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

const (
	storeName        = "cockroach"
	cockroachPIDFile = "cockroach.pid"
)

// cockroach is a CockroachDB server of one node, and its store. It runs as any
// user, root too, and without passwords: whoever can reach the loopback
// interface can use it.
type cockroach struct {
	dir    *directory
	binary string
	store  string
}

// hasStore tells whether the directory holds a store that was used.
func hasStore(dir *directory) bool {
	entries, err := os.ReadDir(dir.file(storeName))
	return err == nil && len(entries) > 0
}

func newCockroach(dir *directory, binary string) (*cockroach, error) {
	c := &cockroach{dir: dir, binary: binary, store: dir.file(storeName)}
	if strings.Contains(c.store, ",") {
		return nil, fmt.Errorf("CockroachDB takes no directory with a comma in its path: %s", c.store)
	}
	return c, nil
}

func (c *cockroach) name() string { return cockroachName }

// initialize makes the place of the store; the server fills it. The pid file is
// written when the server serves, so that one left over would tell a lie.
func (c *cockroach) initialize(context.Context) error {
	if err := os.Mkdir(c.store, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := os.Remove(c.dir.file(cockroachPIDFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (c *cockroach) command(port int) *exec.Cmd {
	cmd := exec.Command(c.binary, c.arguments(port)...)
	cmd.Env = append(serverEnvironment(),
		"HOME="+c.dir.path,
		// A database on somebody's own machine reports to nobody.
		"COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true")
	cmd.Dir = c.dir.path
	return cmd
}

// arguments leave the console on any free port: nobody is told of it. The
// memory limits suit a small machine, where a quarter of it would be the
// default.
func (c *cockroach) arguments(port int) []string {
	return []string{
		"start-single-node",
		"--insecure",
		"--listen-addr=" + net.JoinHostPort(loopback, strconv.Itoa(port)),
		"--http-addr=" + net.JoinHostPort(loopback, "0"),
		c.signature(),
		"--pid-file=" + c.dir.file(cockroachPIDFile),
		"--cache=128MiB",
		"--max-sql-memory=256MiB",
	}
}

func (c *cockroach) signature() string { return "--store=path=" + c.store }

func (c *cockroach) recordedPID() int {
	text, err := c.dir.read(cockroachPIDFile)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return pid
}

func (c *cockroach) serving(pid int) bool { return c.recordedPID() == pid }

// passing finds nothing: the kernel releases the store's lock together with the
// process.
func (c *cockroach) passing(string) bool { return false }

func (c *cockroach) signals() stopSignals {
	return stopSignals{fast: syscall.SIGTERM, immediate: syscall.SIGKILL}
}

func (c *cockroach) url(port int, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User("root"),
		Host:     net.JoinHostPort(loopback, strconv.Itoa(port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func (c *cockroach) maintenanceDatabase() string { return "defaultdb" }

// createDatabase needs to name neither encoding nor collation: CockroachDB has
// no others.
func (c *cockroach) createDatabase(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, `CREATE DATABASE IF NOT EXISTS `+pgx.Identifier{name}.Sanitize())
	return err
}
