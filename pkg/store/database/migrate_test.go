package database_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

var schemas = []database.Schema{database.Directory, database.Shard}

// empty is a database without anything in it.
func empty(t *testing.T, options url.Values) *database.DB {
	t.Helper()
	u, err := url.Parse(databasetest.Empty(t))
	require.NoError(t, err)
	query := u.Query()
	for name := range options {
		query.Set(name, options.Get(name))
	}
	u.RawQuery = query.Encode()
	db, err := database.Open(u.String(), database.PoolOptions{})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

// A change of the schema is no part of a transaction on CockroachDB, so a migration that dies
// anywhere is run again from its beginning.
func TestAMigrationThatDiedHalfwayRunsAgain(t *testing.T) {
	for _, schema := range schemas {
		t.Run(string(schema), func(t *testing.T) {
			db, ctx := empty(t, nil), t.Context()
			files, err := filepath.Glob("migrations/" + string(schema) + "/*.sql")
			require.NoError(t, err)
			require.NotEmpty(t, files)
			for _, file := range files {
				statements := up(t, file)
				for dies := range statements {
					for _, sql := range statements[:dies+1] {
						_, err := db.Exec(ctx, sql)
						require.NoError(t, err, "%s, which died after %d statements before\n%s", file, dies, sql)
					}
				}
			}
			require.NoError(t, db.Migrate(ctx, schema, slog.New(slog.DiscardHandler)), "all of it once more")
			require.Equal(t, shape(t, databasetest.Open(t, schema)), shape(t, db))
		})
	}
}

// up are the statements of a migration, none of which may rely on being in a transaction
// with the others.
func up(t *testing.T, file string) (statements []string) {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS("."), file)
	require.NoError(t, err)
	require.Contains(t, string(text), "-- +goose NO TRANSACTION\n", file)
	_, above, ok := strings.Cut(string(text), "-- +goose Up\n")
	require.True(t, ok, file)
	above, _, _ = strings.Cut(above, "-- +goose Down\n")
	above = regexp.MustCompile(`--[^\n]*`).ReplaceAllString(above, "")
	for sql := range strings.SplitSeq(above, ";") {
		if sql = strings.TrimSpace(sql); sql != "" {
			statements = append(statements, sql)
		}
	}
	require.NotEmpty(t, statements, file)
	return statements
}

// shape is what a database's tables and indexes are like.
func shape(t *testing.T, db *database.DB) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), `
		SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '')
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'goose%' ORDER BY 1`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// What bounds the statements of a request does not bound those of a migration.
func TestMigrationsTakeTheirTime(t *testing.T) {
	for _, schema := range schemas {
		t.Run(string(schema), func(t *testing.T) {
			db := empty(t, url.Values{"statement_timeout": {"1ms"}, "lock_timeout": {"1ms"}})
			_, err := db.Exec(t.Context(), `SELECT pg_sleep(0.05)`)
			require.ErrorContains(t, err, "statement timeout")
			require.NoError(t, db.Migrate(t.Context(), schema, slog.New(slog.DiscardHandler)))
			have, want, err := db.Version(t.Context(), schema)
			require.NoError(t, err)
			require.Equal(t, want, have, fmt.Sprint(schema))
		})
	}
}

// An index of a table that may be large is built beside those who write to it, and what a
// migration which died left of it is built anew.
func TestIndexesAreBuiltBesideWriters(t *testing.T) {
	db := empty(t, nil)
	require.NoError(t, db.Migrate(t.Context(), database.Shard, slog.New(slog.DiscardHandler)))
	for _, sql := range []string{
		`DELETE FROM goose_db_version WHERE version_id >= 26`,
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'portal_by_host_check'::regclass`,
	} {
		_, err := db.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	writer, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = writer.Exec(t.Context(), `DELETE FROM portal`)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		done <- db.Migrate(context.WithoutCancel(t.Context()), database.Shard, slog.New(slog.DiscardHandler))
	}()
	// It waits for the writer of before; whoever comes then does not wait for it.
	waiting := func() (n int) {
		require.NoError(t, db.QueryRow(t.Context(), `
			SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INDEX CONCURRENTLY%portal_by_host_check%'
				AND datname = current_database()`).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return waiting() == 1 }, 20*time.Second, 5*time.Millisecond)
	within, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	_, err = db.Exec(within, `DELETE FROM portal`)
	require.NoError(t, err, "a writer waits for no index")
	require.NoError(t, writer.Rollback(t.Context()))
	require.NoError(t, <-done)
	var valid bool
	require.NoError(t, db.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = 'portal_by_host_check'::regclass`).Scan(&valid))
	require.True(t, valid)
}

// A change of a table does not keep others from it while it waits for a transaction that
// uses the table.
func TestMigrationsLetOthersGoFirst(t *testing.T) {
	db := empty(t, nil)
	require.NoError(t, db.Migrate(t.Context(), database.Shard, slog.New(slog.DiscardHandler)))
	for _, sql := range []string{`DELETE FROM goose_db_version WHERE version_id >= 27`, `ALTER TABLE escalation DROP COLUMN sandbox`} {
		_, err := db.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	long, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = long.Exec(t.Context(), `SELECT count(*) FROM escalation`)
	require.NoError(t, err)
	var log bytes.Buffer
	done := make(chan error, 1)
	go func() {
		done <- db.Migrate(context.WithoutCancel(t.Context()), database.Shard, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	require.Eventually(t, func() (waits bool) {
		require.NoError(t, db.QueryRow(t.Context(), `
			SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE escalation%' AND datname = current_database())`).Scan(&waits))
		return waits
	}, 20*time.Second, 5*time.Millisecond)
	within, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	_, err = db.Exec(within, `SELECT count(*) FROM escalation`)
	require.NoError(t, err, "a reader waits for a moment only")
	require.NoError(t, long.Rollback(t.Context()))
	require.NoError(t, <-done)
	require.Contains(t, log.String(), "failed to lock a table")
	_, err = db.Exec(t.Context(), `SELECT sandbox FROM escalation`)
	require.NoError(t, err)
}
