package database

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
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
//
// Each statement of a migration is committed by itself, on both engines, since a
// change of the schema is not part of a transaction on CockroachDB. A migration
// that died halfway runs again from its beginning, so that every statement is
// one that may. One that cannot lock a table is tried again for ten minutes.
func (db *DB) Migrate(ctx context.Context, s Schema, log *slog.Logger) error {
	p, closeDB, err := db.migrator(ctx, s, log)
	if err != nil {
		return err
	}
	defer closeDB()
	for began := time.Now(); ; {
		_, err := p.Up(ctx)
		if err == nil {
			return nil
		}
		if !lockTimeout(err) || time.Since(began) > lockPatience {
			return fmt.Errorf("migrate the %s: %w", s, err)
		}
		log.WarnContext(ctx, "failed to lock a table for a migration; trying again", "schema", s, "error", err)
		select {
		case <-time.After(lockAgain):
		case <-ctx.Done():
			return fmt.Errorf("migrate the %s: %w", s, ctx.Err())
		}
	}
}

// A change of a table waits for the transactions that use it, and whoever comes then
// waits behind it. So it waits for a moment only, lets them go first, and tries again.
const (
	lockWait     = "1s"
	lockAgain    = 2 * time.Second
	lockPatience = 10 * time.Minute
)

func lockTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03" // lock_not_available
}

// Version is the schema version the database is at, and the current one.
func (db *DB) Version(ctx context.Context, s Schema) (have, want int64, err error) {
	p, closeDB, err := db.migrator(ctx, s, slog.New(slog.DiscardHandler))
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

func (db *DB) migrator(ctx context.Context, s Schema, log *slog.Logger) (*goose.Provider, func(), error) {
	files, err := fs.Sub(migrations, "migrations/"+string(s))
	if err != nil {
		return nil, nil, err
	}
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(time.Second, 300))
	if err != nil {
		return nil, nil, err
	}
	pool, err := db.patient()
	if err != nil {
		return nil, nil, err
	}
	engine, err := (&DB{Pool: pool, checked: db.checked}).Engine(ctx)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	if engine == Postgres {
		files = concurrently{files}
	}
	conns := stdlib.OpenDBFromPool(pool)
	done := func() {
		_ = conns.Close()
		pool.Close()
	}
	p, err := goose.NewProvider(goose.DialectPostgres, conns, files,
		goose.WithLocker(locker), goose.WithSlog(log), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		done()
		return nil, nil, err
	}
	return p, done, nil
}

// patient is a pool like db's whose statements take as long as they take, such as one that
// fills an index of a large table, but wait only for a moment until they have a lock.
func (db *DB) patient() (*pgxpool.Pool, error) {
	cfg := db.Config()
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = 4, 0, 0
	for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
		cfg.ConnConfig.RuntimeParams[limit] = "0"
	}
	cfg.ConnConfig.RuntimeParams["lock_timeout"] = lockWait
	return pgxpool.NewWithConfig(context.Background(), cfg)
}
