// Package databasetest gives tests real databases. All packages of a run share
// one server, whose URL the environment names (make test starts it); without
// one, a package starts its own and stops it at the end. Each test gets
// databases of its own, cloned from a template that has the schema. The server is
// PostgreSQL or CockroachDB.
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

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/embedded"
)

const (
	// Env names the server that the packages of a run share.
	Env = "VISAVIS_TEST_DATABASE"
	// EngineEnv names the engine of a server that is started, postgres or cockroach; without
	// it that is CockroachDB where cockroach is on PATH, else PostgreSQL.
	EngineEnv = "VISAVIS_TEST_ENGINE"
)

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
		Dir: dir, Engine: os.Getenv(EngineEnv), Log: slog.New(slog.DiscardHandler), Durable: durable,
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

// RunsPrograms has the result of a test not remembered by `go test`, which knows nothing of
// changes of the programs that the test builds or runs: the server that Env names is another one
// in every run.
func RunsPrograms() { os.Getenv(Env) }

// URL makes a database with a schema for one test and answers its address.
// It is dropped when the test ends.
func URL(t testing.TB, schema database.Schema) string {
	t.Helper()
	os.Getenv(EngineEnv) // a result is remembered for the engine that it is of
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
	name := nameOf(string(schema))
	t.Cleanup(func() { drop(t, name) })
	if err := clone(ctx, conn, template, name); err != nil {
		t.Fatalf("clone %s: %v", template, err)
	}
	return withDatabase(name)
}

// Empty makes a database without anything in it for one test and answers its address. It is
// dropped when the test ends.
func Empty(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	name := nameOf("empty")
	t.Cleanup(func() { drop(t, name) })
	if err := database.Create(ctx, conn, name); err != nil {
		t.Fatalf("make %s: %v", name, err)
	}
	return withDatabase(name)
}

func nameOf(kind string) string {
	return fmt.Sprintf("test_%s_%s", kind, strings.ToLower(rand.Text()[:12]))
}

// OnlyPostgres skips a test on CockroachDB that asks PostgreSQL itself for something: why
// says for what.
func OnlyPostgres(t testing.TB, why string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	engine, err := database.EngineOf(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	if engine != database.Postgres {
		t.Skip("only on PostgreSQL: " + why)
	}
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

func drop(t testing.TB, name string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Errorf("drop %s: %v", name, err)
		return
	}
	defer conn.Close(ctx)
	if err := database.Drop(ctx, conn, name); err != nil {
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
