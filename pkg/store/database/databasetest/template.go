package databasetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"visavis.dev/pkg/store/database"
)

// ensureTemplate makes a database with a schema once for a server, to clone others from.
func ensureTemplate(ctx context.Context, conn *pgx.Conn, schema database.Schema) (string, error) {
	name := "template_" + string(schema)
	making := name + "_making"
	deadline := time.Now().Add(2 * time.Minute)
	for {
		if ready, err := exists(ctx, conn, name); err != nil || ready {
			return name, err
		}
		// Whoever makes this one makes the template; the other packages wait. Neither engine
		// lets two have the same name, and advisory locks do nothing on CockroachDB.
		err := database.Create(ctx, conn, making)
		var pg *pgconn.PgError
		switch {
		case err == nil:
			return name, makeOnce(ctx, conn, making, name, schema)
		case !errors.As(err, &pg) || pg.Code != duplicateDatabase && pg.Code != uniqueViolation && pg.Code != objectInUse:
			return "", err
		case time.Now().After(deadline):
			return "", fmt.Errorf("%s is not made: drop %s if nobody is making it", name, making)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// The codes of a database that another session makes, or copies from, at the moment.
const (
	duplicateDatabase = "42P04"
	uniqueViolation   = "23505"
	objectInUse       = "55006"
)

func exists(ctx context.Context, conn *pgx.Conn, name string) (there bool, err error) {
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&there)
	return there, err
}

// makeOnce fills the new database, unless another one took the name since it was looked for: then
// that is the template.
func makeOnce(ctx context.Context, conn *pgx.Conn, making, name string, schema database.Schema) error {
	ready, err := exists(ctx, conn, name)
	if err != nil || ready {
		return errors.Join(err, database.Drop(ctx, conn, making))
	}
	return fill(ctx, conn, making, name, schema)
}

// fill gives a database its schema, and its name at last.
func fill(ctx context.Context, conn *pgx.Conn, making, name string, schema database.Schema) error {
	db, err := database.Open(withDatabase(making), database.PoolOptions{})
	if err != nil {
		return err
	}
	err = db.Migrate(ctx, schema, slog.New(slog.DiscardHandler))
	db.Close()
	if err == nil {
		err = rename(ctx, conn, making, name)
	}
	if err != nil {
		// The next one that needs it tries again.
		return errors.Join(err, database.Drop(ctx, conn, making))
	}
	return nil
}

// rename waits for the last connection to the new template to be gone.
func rename(ctx context.Context, conn *pgx.Conn, from, to string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, err := conn.Exec(ctx, "ALTER DATABASE "+from+" RENAME TO "+to)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != objectInUse || time.Now().After(deadline) {
			return err
		}
	}
}

// clone makes a database like the template. CockroachDB copies none: there the template's
// tables are declared again, and their few rows copied.
func clone(ctx context.Context, conn *pgx.Conn, template, name string) error {
	engine, err := database.EngineOf(ctx, conn)
	if err != nil {
		return err
	}
	if engine == database.Postgres {
		// Block by block through the log, which is its default, takes twice as long.
		_, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY")
		return err
	}
	if err := database.Create(ctx, conn, name); err != nil {
		return err
	}
	statements, err := declarations(ctx, template)
	if err != nil {
		return err
	}
	to, err := pgx.Connect(ctx, withDatabase(name))
	if err != nil {
		return err
	}
	defer to.Close(ctx)
	for _, sql := range statements {
		if _, err := to.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return copyRows(ctx, to, template)
}

// declarations are the statements that make a CockroachDB database's tables.
func declarations(ctx context.Context, of string) ([]string, error) {
	from, err := pgx.Connect(ctx, withDatabase(of))
	if err != nil {
		return nil, err
	}
	defer from.Close(ctx)
	rows, err := from.Query(ctx, `SELECT create_statement FROM [SHOW CREATE ALL TABLES]`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// copyRows copies what a CockroachDB database has in tables that are not an organization's.
func copyRows(ctx context.Context, to *pgx.Conn, from string) error {
	rows, err := to.Query(ctx, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := to.Exec(ctx, `INSERT INTO `+table+` SELECT * FROM `+from+`.public.`+table); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	return nil
}
