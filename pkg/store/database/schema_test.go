package database_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestEveryShardTableBelongsToAnOrganization(t *testing.T) {
	db := databasetest.Open(t, database.Shard)
	rows, _ := db.Query(context.Background(), `
		SELECT t.table_name, COALESCE((
			SELECT k.column_name FROM information_schema.table_constraints c
			JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name, table_name)
			WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name
				AND c.constraint_type = 'PRIMARY KEY' AND k.ordinal_position = 1), '')
		FROM information_schema.tables t WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE'`)
	type table struct{ Name, Leads string }
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	require.NoError(t, err)
	// The leases on a shard's deliveries are the shard's: they stay when an
	// organization moves.
	own := []string{"delivery_lane", "delivery_worker", "live_pod"}
	checked := 0
	for _, table := range tables {
		if strings.HasPrefix(table.Name, "goose") || slices.Contains(own, table.Name) {
			continue
		}
		checked++
		require.Equal(t, "org_id", table.Leads, "first column of the primary key of %s", table.Name)
	}
	require.Greater(t, checked, 10)
}

func TestMigrate(t *testing.T) {
	for _, schema := range []database.Schema{database.Directory, database.Shard} {
		t.Run(string(schema), func(t *testing.T) {
			ctx := context.Background()
			db := empty(t, nil)
			have, want, err := db.Version(ctx, schema)
			require.NoError(t, err)
			require.Zero(t, have)
			require.Positive(t, want)

			// Several pods start at once.
			var pods errgroup.Group
			for range 3 {
				pods.Go(func() error { return db.Migrate(ctx, schema, slog.New(slog.DiscardHandler)) })
			}
			require.NoError(t, pods.Wait())
			have, want, err = db.Version(ctx, schema)
			require.NoError(t, err)
			require.Equal(t, want, have)
		})
	}
}
