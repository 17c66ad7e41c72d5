package database

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// version is the first two numbers of a server's version.
type version struct{ major, minor int }

// oldest are the oldest servers that every statement is written for. CockroachDB 25.1 is the
// first that ends a transaction before it changes a schema, and so does one thing or none.
var oldest = map[Engine]version{Postgres: {15, 0}, Cockroach: {25, 1}}

// UnsupportedError says that a server is none that the statements are written for.
type UnsupportedError struct{ Server string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is not supported: PostgreSQL %d and CockroachDB %d.%d are the oldest that are",
		e.Server, oldest[Postgres].major, oldest[Cockroach].major, oldest[Cockroach].minor)
}

// Supported connects to the server, which makes sure of what it is. The error is an
// *UnsupportedError or *EngineError where it is none that the statements are written for.
func (db *DB) Supported(ctx context.Context) error {
	return db.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return c.Ping(ctx) })
}

// supported compares the version with the oldest that is supported. The error is an
// *UnsupportedError.
func (i identity) supported(e Engine) error {
	name, number := "PostgreSQL", strings.TrimPrefix(i.version, "PostgreSQL ")
	if e == Cockroach {
		// CockroachDB CCL v25.1.2 (x86_64-pc-linux-gnu, built …)
		name = "CockroachDB"
		_, number, _ = strings.Cut(i.version, " v")
	}
	number, _, _ = strings.Cut(number, " ")
	have, want := versionOf(number), oldest[e]
	if have.major < want.major || have.major == want.major && have.minor < want.minor {
		return &UnsupportedError{Server: strings.TrimSpace(name + " " + number)}
	}
	return nil
}

// versionOf reads the first two numbers of a version; what is none is zero.
func versionOf(text string) version {
	major, rest, _ := strings.Cut(text, ".")
	return version{leading(major), leading(rest)}
}

// leading is the number that a text begins with, or zero.
func leading(text string) int {
	digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		text = text[:digits]
	}
	n, _ := strconv.Atoi(text) // zero where it is none
	return n
}
