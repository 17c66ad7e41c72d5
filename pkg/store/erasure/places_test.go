package erasure_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/erasure"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// Of every column that can hold words it is said whether a person's can be there, and by
// what they are gone.
func TestEveryColumnHasARule(t *testing.T) {
	db := databasetest.Open(t, database.Shard)
	rows, err := db.Query(context.Background(), `
		SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY')
			AND NOT (data_type = 'ARRAY' AND udt_name NOT IN ('_text', '_varchar', '_jsonb', '_bytea'))`)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(columns), 200)
	there := map[string]bool{}
	for _, c := range columns {
		if !strings.HasPrefix(c, "goose") {
			there[c] = true
		}
	}
	ruled := map[string]bool{}
	for _, p := range erasure.Places {
		require.True(t, p.Reason != "" || p.Rule != erasure.Never && p.Rule != erasure.Ends && p.Rule != erasure.Customers, "%s says why", p.Table)
		for _, column := range p.Columns {
			name := p.Table + "." + column
			require.False(t, ruled[name], "%s has one rule", name)
			require.True(t, there[name], "%s exists", name)
			ruled[name] = true
		}
	}
	for name := range there {
		require.True(t, ruled[name], "whether a person's words can be in %s is not said in package erasure", name)
	}
}
