package database

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The oldest servers that every statement is written for.
const (
	oldestPostgres  = 15
	oldestCockroach = 23
)

// UnsupportedError says that a server is none that the statements are written for.
type UnsupportedError struct{ Server string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is not supported: PostgreSQL %d and CockroachDB %d are the oldest that are", e.Server, oldestPostgres, oldestCockroach)
}

// Supported asks the server what it is. The error is an *UnsupportedError where it is
// none that the statements are written for.
func (db *DB) Supported(ctx context.Context) error {
	return db.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if err := c.Ping(ctx); err != nil {
			return err
		}
		if v := c.Conn().PgConn().ParameterStatus("crdb_version"); v != "" {
			_, number, _ := strings.Cut(v, " v")
			return supported("CockroachDB", number, oldestCockroach)
		}
		return supported("PostgreSQL", c.Conn().PgConn().ParameterStatus("server_version"), oldestPostgres)
	})
}

// supported compares the first number of a version.
func supported(name, version string, oldest int) error {
	version, _, _ = strings.Cut(version, " ")
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}
	if n, err := strconv.Atoi(version[:digits]); err != nil || n < oldest {
		return &UnsupportedError{Server: strings.TrimSpace(name + " " + version)}
	}
	return nil
}
