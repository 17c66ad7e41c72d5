package tenant_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

func TestTablesAreThoseOfTheSchema(t *testing.T) {
	db := databasetest.Open(t, database.Shard)
	rows, _ := db.Query(context.Background(), `
		SELECT c.table_name, string_agg(k.column_name, ' ' ORDER BY k.ordinal_position)
		FROM information_schema.table_constraints c
		JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name, table_name)
		WHERE c.table_schema = 'public' AND c.constraint_type = 'PRIMARY KEY' GROUP BY c.table_name`)
	type table struct{ Name, Key string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	require.NoError(t, err)
	want := map[string]string{}
	for _, table := range found {
		if strings.HasPrefix(table.Key+" ", "org_id ") && table.Name != "org_fence" {
			want[table.Name] = table.Key
		}
	}
	have := map[string]string{}
	for _, table := range tenant.Tables {
		have[table.Name] = strings.Join(append([]string{"org_id"}, table.Key...), " ")
	}
	require.Equal(t, want, have)
	require.Len(t, tenant.Tables, len(have), "each once")
}

func TestShut(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org, other := w.organization(t), w.organization(t)
	require.NoError(t, w.set(ctx, org, "k"))
	require.NoError(t, w.set(ctx, other, "k"))
	n, err := w.Remove(ctx, "a", org, tableOf("setting"), 10)
	require.NoError(t, err)
	require.Zero(t, n, "nothing of one that is open")

	for range 2 {
		require.NoError(t, w.Shut(ctx, "a", org))
	}
	require.ErrorIs(t, w.set(ctx, org, "l"), directory.ErrUnknown)
	require.ErrorIs(t, w.Read(ctx, org, func(*tenant.Reads) {}), directory.ErrUnknown)
	require.NoError(t, w.set(ctx, other, "l"))
	open, err := w.IsOpen(ctx, "a", org)
	require.NoError(t, err)
	require.False(t, open)

	n, err = w.Remove(ctx, "a", org, tableOf("setting"), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, w.ForgetOrganization(ctx, "a", org))
	require.NoError(t, w.ForgetOrganization(ctx, "a", other))
	open, err = w.IsOpen(ctx, "a", other)
	require.NoError(t, err)
	require.True(t, open)

	_, err = w.a.Exec(ctx, `UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, other)
	require.NoError(t, err)
	require.True(t, tenant.Unavailable(w.Shut(ctx, "a", other)), "it is being moved")
}

func tableOf(name string) tenant.Table {
	for _, table := range tenant.Tables {
		if table.Name == name {
			return table
		}
	}
	panic(name)
}
