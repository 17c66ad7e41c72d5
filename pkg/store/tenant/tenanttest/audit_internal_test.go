package tenanttest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestAWriteThatIsNotTouchedIsFound(t *testing.T) {
	t.Parallel()
	a := &auditor{audited: auditedTables(), exempt: func() bool { return false }}
	for _, tt := range []struct {
		sql, tag string
		touched  map[string]bool
		refused  bool
	}{
		{sql: `UPDATE person SET name = $2`, tag: "UPDATE 1", refused: true},
		{sql: `INSERT INTO person AS p (id) VALUES ($1)`, tag: "INSERT 0 1", touched: map[string]bool{"membership": true}, refused: true},
		{sql: `WITH gone AS (DELETE FROM turn RETURNING id) SELECT id FROM gone`, tag: "SELECT 3", refused: true},
		{sql: `UPDATE person SET name = $2`, tag: "UPDATE 1", touched: map[string]bool{"person": true}},
		{sql: `UPDATE person SET name = $2`, tag: "UPDATE 0"},
		{sql: `UPDATE rate_window SET used = 1`, tag: "UPDATE 1"}, // stays where it is
		{sql: `SELECT name FROM person`, tag: "SELECT 1"},
	} {
		query, batch := a.Begin(t.Context()), a.Begin(t.Context())
		traced := a.TraceQueryStart(query, nil, pgx.TraceQueryStartData{SQL: tt.sql})
		a.TraceQueryEnd(traced, nil, pgx.TraceQueryEndData{CommandTag: pgconn.NewCommandTag(tt.tag)})
		a.TraceBatchQuery(batch, nil, pgx.TraceBatchQueryData{SQL: tt.sql, CommandTag: pgconn.NewCommandTag(tt.tag)})
		for _, ctx := range []context.Context{query, batch} {
			require.Equal(t, tt.refused, a.End(ctx, tt.touched) != nil, tt.sql)
		}
	}
	require.True(t, byTest())
}
