package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
)

// platform is a directory and a shard, set up with the admin tool, with one
// organization and its key.
type platform struct {
	directory, shard string
	files            string
	org, key         string
}

// newPlatform sets up a platform on two databases.
func newPlatform(t *testing.T, directory, shard string) *platform {
	t.Helper()
	p := &platform{directory: directory, shard: shard, files: filepath.Join(t.TempDir(), "files")}
	runJSON[[]migrated](t, "migrate", "--database", directory)
	runJSON[map[string]any](t, "admin", "--database", directory, "shard", "add", "one", "--url", shard)
	p.org = runJSON[shownOrg](t, "admin", "--database", directory, "org", "create", "Acme", "--plan", "enterprise").ID
	p.key = runJSON[adminKey](t, "admin", "--database", directory, "key", "create", p.org, "--full-access").Secret
	return p
}

// shownOrg and adminKey are what the admin tool prints, as its users read it.
type shownOrg struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Slug      string  `json:"slug"`
	Shard     string  `json:"shard"`
	Plan      string  `json:"plan"`
	PausedAt  *string `json:"pausedAt"`
	Reason    *string `json:"pausedReason"`
	Overrides struct {
		Limits map[string]*int64           `json:"limits"`
		Rates  map[string]map[string]int64 `json:"rates"`
	} `json:"overrides"`
}

type adminKey struct {
	ID         string   `json:"id"`
	OrgID      string   `json:"orgId"`
	Name       string   `json:"name"`
	Last4      string   `json:"last4"`
	Scopes     []string `json:"scopes"`
	FullAccess bool     `json:"fullAccess"`
	APIVersion string   `json:"apiVersion"`
	ExpiresAt  *string  `json:"expiresAt"`
	RevokedAt  *string  `json:"revokedAt"`
	Secret     string   `json:"secret"`
}

// newDatabase makes an empty database on the tests' server.
func newDatabase(t *testing.T) string {
	t.Helper()
	name := "cmd_" + strings.ToLower(rand.Text()[:12])
	with := func(do func(ctx context.Context, conn *pgx.Conn, name string) error) {
		conn, err := pgx.Connect(context.Background(), testServer)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		require.NoError(t, do(context.Background(), conn, name))
	}
	with(database.Create)
	t.Cleanup(func() { with(database.Drop) })
	u, err := url.Parse(testServer)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

func executeSQL(t *testing.T, database, sql string) int64 {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	defer conn.Close(ctx)
	tag, err := conn.Exec(ctx, sql)
	require.NoError(t, err)
	return tag.RowsAffected()
}

// apiProcess is an API process and where it listens.
type apiProcess struct {
	*program
	// url is the base address, which ends in /v1; operations the second port's.
	url, operations string
}

// role starts a process of a role on the platform.
func (p *platform) role(t *testing.T, role string, args ...string) *program {
	t.Helper()
	return launch(t, append([]string{
		role, "--database", p.directory, "--admin-addr", "127.0.0.1:0", "--max-conns", "4",
		"--files", "file://" + filepath.ToSlash(p.files) + "?create_dir=true&no_tmp_dir=true&metadata=skip",
	}, args...)...)
}

// start starts an API process on the platform.
func (p *platform) start(t *testing.T, args ...string) *apiProcess {
	t.Helper()
	return &apiProcess{program: p.role(t, "api", append([]string{"--addr", "127.0.0.1:0"}, args...)...)}
}

// await waits until the process serves.
func (a *apiProcess) await(t *testing.T) {
	t.Helper()
	at := a.awaitLine(t, "serving")
	a.url, a.operations = "http://"+at.Addr+"/v1", "http://"+at.Admin
}

// logLine is a line of a program's log.
type logLine struct{ Msg, Addr, Admin string }

// awaitLine waits until a program logged a message.
func (p *program) awaitLine(t *testing.T, message string) logLine {
	t.Helper()
	var line logLine
	require.Eventually(t, func() bool {
		for s := bufio.NewScanner(strings.NewReader(p.stderr.String())); s.Scan(); {
			if json.Unmarshal(s.Bytes(), &line) == nil && line.Msg == message {
				return true
			}
		}
		return !p.running()
	}, patience, 10*time.Millisecond, "the program does not say that it is %s", message)
	require.True(t, p.running(), "%s", p.stderr.String())
	return line
}

// serve starts an API process and waits until it serves.
func (p *platform) serve(t *testing.T, args ...string) *apiProcess {
	t.Helper()
	a := p.start(t, args...)
	a.await(t)
	return a
}
