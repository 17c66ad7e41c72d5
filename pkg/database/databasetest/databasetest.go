// Package databasetest gives tests real databases. All packages of a run share
// one server, whose URL the environment names (make test starts it); without
// one, a package starts its own and stops it at the end. Each test gets
// databases of its own, cloned from a template that has the schema.
package databasetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/database/embedded"
)

// Env names the server that the packages of a run share.
const Env = "VISAVIS_TEST_DATABASE"

var server string

// Tests are a package's: a *testing.M, or what starts something else around one.
type Tests interface{ Run() int }

// Main runs a package's tests with a server. Call it from TestMain.
func Main(m Tests) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "databasetest:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m Tests) (code int, err error) {
	if server = os.Getenv(Env); server != "" {
		return m.Run(), nil
	}
	own, stop, err := Start(context.Background(), false)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	server = own
	return m.Run(), nil
}

// Start runs a server until stop is called. One for tests need not survive a
// crash; one to measure with is durable, as in production.
func Start(ctx context.Context, durable bool) (serverURL string, stop func() error, err error) {
	parent := ""
	if !durable {
		parent = memory()
	}
	dir, err := os.MkdirTemp(parent, "visavis-test-database-")
	if err != nil {
		return "", nil, err
	}
	s, err := embedded.Start(ctx, embedded.Options{
		Dir: dir, Log: slog.New(slog.DiscardHandler), Durable: durable,
		Settings: map[string]string{"max_connections": "500"},
	})
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s.URL("postgres"), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		return errors.Join(s.Stop(ctx), os.RemoveAll(dir))
	}, nil
}

// URL makes a database with a schema for one test and answers its address.
// It is dropped when the test ends.
func URL(t testing.TB, schema database.Schema) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	template, err := ensureTemplate(ctx, conn, schema)
	if err != nil {
		t.Fatalf("template of the %s: %v", schema, err)
	}
	name := fmt.Sprintf("test_%s_%s", schema, strings.ToLower(rand.Text()[:12]))
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("clone %s: %v", template, err)
	}
	t.Cleanup(func() { drop(t, name) })
	return withDatabase(name)
}

// Open is a pool on a database of URL's, closed when the test ends.
func Open(t testing.TB, schema database.Schema) *database.DB {
	t.Helper()
	db, err := database.Open(URL(t, schema), database.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// templateLock keeps two packages from making the templates at once.
const templateLock = 7_216_001

// ensureTemplate makes the template once for a server.
func ensureTemplate(ctx context.Context, conn *pgx.Conn, schema database.Schema) (string, error) {
	name := "template_" + string(schema)
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return "", err
	}
	defer func() { _, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", templateLock) }()
	var ready bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&ready); err != nil || ready {
		return name, err
	}
	making := name + "_making"
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+making); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+making+" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"); err != nil {
		return "", err
	}
	db, err := database.Open(withDatabase(making), database.PoolOptions{})
	if err != nil {
		return "", err
	}
	err = db.Migrate(ctx, schema, slog.New(slog.DiscardHandler))
	db.Close()
	if err != nil {
		return "", err
	}
	return name, rename(ctx, conn, making, name)
}

// rename waits for the last connection to the new template to be gone.
func rename(ctx context.Context, conn *pgx.Conn, from, to string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, err := conn.Exec(ctx, "ALTER DATABASE "+from+" RENAME TO "+to)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "55006" || time.Now().After(deadline) {
			return err
		}
	}
}

func drop(t testing.TB, name string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Errorf("drop %s: %v", name, err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
		t.Errorf("drop %s: %v", name, err)
	}
}

func withDatabase(name string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err)
	}
	u.Path = "/" + name
	return u.String()
}
