package database

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrations embed.FS

// Schema names one of the two kinds of database.
type Schema string

// The two schemas (architecture: a directory, and shards).
const (
	Directory Schema = "directory"
	Shard     Schema = "shard"
)

// Migrate brings the database to the current version of a schema. Several
// pods may call it at once: a lease in a table of its own (advisory locks do
// nothing on CockroachDB) lets one go first.
func (db *DB) Migrate(ctx context.Context, s Schema, log *slog.Logger) error {
	p, closeDB, err := db.migrator(s, log)
	if err != nil {
		return err
	}
	defer closeDB()
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the %s: %w", s, err)
	}
	return nil
}

// Version is the schema version the database is at, and the current one.
func (db *DB) Version(ctx context.Context, s Schema) (have, want int64, err error) {
	p, closeDB, err := db.migrator(s, slog.New(slog.DiscardHandler))
	if err != nil {
		return 0, 0, err
	}
	defer closeDB()
	have, want, err = p.GetVersions(ctx)
	return have, want, err
}

// Applied is the schema version the database is at, whichever that is.
func (db *DB) Applied(ctx context.Context) (version int64, err error) {
	err = db.QueryRow(ctx, `SELECT COALESCE(max(version_id), 0) FROM goose_db_version`).Scan(&version)
	return version, err
}

func (db *DB) migrator(s Schema, log *slog.Logger) (*goose.Provider, func(), error) {
	files, err := fs.Sub(migrations, "migrations/"+string(s))
	if err != nil {
		return nil, nil, err
	}
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(time.Second, 300))
	if err != nil {
		return nil, nil, err
	}
	conns := stdlib.OpenDBFromPool(db.Pool)
	p, err := goose.NewProvider(goose.DialectPostgres, conns, files,
		goose.WithLocker(locker), goose.WithSlog(log), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, nil, errors.Join(err, conns.Close())
	}
	return p, func() { _ = conns.Close() }, nil
}
