package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	clusterName = "postgres"
	superuser   = "postgres"
)

// postgres is a PostgreSQL server and its cluster.
type postgres struct {
	dir          *directory
	cluster      string
	installation installation
	identity     identity
	password     string
	durable      bool
	settings     map[string]string
	output       *serverLog
}

// hasCluster tells whether the directory holds a complete cluster.
func hasCluster(dir *directory) bool {
	_, err := os.Stat(dir.file(clusterName + "/PG_VERSION"))
	return err == nil
}

func newPostgres(ctx context.Context, dir *directory, o Options, output *serverLog) (*postgres, error) {
	p := &postgres{
		dir:      dir,
		cluster:  dir.file(clusterName),
		durable:  o.Durable,
		settings: o.Settings,
		output:   output,
	}
	for name := range p.fixedSettings(0) {
		if _, given := o.Settings[name]; given {
			return nil, fmt.Errorf("the setting %s is not the caller's to choose", name)
		}
	}
	wanted, err := p.clusterMajor()
	if err != nil {
		return nil, err
	}
	if p.installation, err = findPostgres(ctx, wanted); err != nil {
		return nil, err
	}
	p.identity, err = chooseIdentity(ctx, dir, p.cluster, p.installation.program("postgres"))
	if err != nil {
		return nil, err
	}
	p.password, err = p.keepPassword()
	return p, err
}

// clusterMajor is the version that made the cluster, 0 when there is none.
func (p *postgres) clusterMajor() (int, error) {
	text, err := p.dir.read(clusterName + "/PG_VERSION")
	if err != nil || text == "" {
		return 0, err
	}
	return strconv.Atoi(text)
}

func (p *postgres) name() string { return postgresName }

// serverEnvironment is all that a server sees of the caller's environment,
// where PGDATA, PGOPTIONS, the locale and others would change what it does.
func serverEnvironment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
}

func (p *postgres) command(port int) *exec.Cmd {
	cmd := exec.Command(p.installation.program("postgres"), p.arguments(port)...)
	cmd.Env = serverEnvironment()
	if pid := p.recordedPID(); pid != 0 {
		// The process is not a server on this cluster, stopLeftover has seen to
		// that, but PostgreSQL would take any living one for it. It makes an
		// exception for the process that pg_ctl names here, and still checks
		// whether the old server's memory is in use.
		cmd.Env = append(cmd.Env, "PG_GRANDPARENT_PID="+strconv.Itoa(pid))
	}
	p.identity.apply(cmd)
	return cmd
}

func (p *postgres) arguments(port int) []string {
	settings := map[string]string{
		"max_connections":    "200",
		"shared_buffers":     "128MB",
		"fsync":              onOff(p.durable),
		"synchronous_commit": onOff(p.durable),
		"full_page_writes":   onOff(p.durable),
	}
	maps.Copy(settings, p.settings)
	maps.Copy(settings, p.fixedSettings(port))
	arguments := []string{"-D", p.cluster}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		arguments = append(arguments, "-c", name+"="+settings[name])
	}
	return arguments
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// fixedSettings are those that this package's promises rest on.
func (p *postgres) fixedSettings(port int) map[string]string {
	return map[string]string{
		"listen_addresses":        loopback,
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": socketDirectory(p.cluster),
	}
}

// socketDirectory is the cluster itself, which nobody else can enter, or none
// when a socket's address has no room for the path.
func socketDirectory(cluster string) string {
	const longestAddress = 103 // on macOS, one less than its array; Linux has 107
	longest := filepath.Join(cluster, ".s.PGSQL.65535")
	if len(longest) > longestAddress || strings.ContainsAny(cluster, `,"`) {
		return ""
	}
	return cluster
}

func (p *postgres) signature() string { return "-D " + p.cluster }

// pidFile returns the lines of the server's pid file, none when there is none.
func (p *postgres) pidFile() []string {
	text, err := p.dir.read(clusterName + "/postmaster.pid")
	if err != nil {
		return nil
	}
	return strings.Split(text, "\n")
}

func (p *postgres) recordedPID() int {
	lines := p.pidFile()
	if len(lines) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		return 0
	}
	// A server in single-user mode writes its negated pid.
	return max(pid, -pid)
}

func (p *postgres) serving(pid int) bool {
	const statusLine = 7
	lines := p.pidFile()
	return len(lines) > statusLine &&
		lines[0] == strconv.Itoa(pid) &&
		strings.TrimSpace(lines[statusLine]) == "ready"
}

// passing recognises the moments after a server was killed, in which its
// children have not noticed yet.
func (p *postgres) passing(log string) bool {
	return strings.Contains(log, "pre-existing shared memory block")
}

func (p *postgres) signals() stopSignals {
	return stopSignals{fast: syscall.SIGINT, immediate: syscall.SIGQUIT}
}

func (p *postgres) url(port int, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, p.password),
		Host:     net.JoinHostPort(loopback, strconv.Itoa(port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func (p *postgres) maintenanceDatabase() string { return "postgres" }

// createDatabase copies template0, whose text can have any encoding and order,
// since it has none.
func (p *postgres) createDatabase(ctx context.Context, conn *pgx.Conn, name string) error {
	var exists bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize()+
		` TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`)
	// Another session can have been faster, before the server looked or after.
	const duplicateDatabase, uniqueViolation = "42P04", "23505"
	var e *pgconn.PgError
	if errors.As(err, &e) && (e.Code == duplicateDatabase || e.Code == uniqueViolation) {
		return nil
	}
	return err
}
