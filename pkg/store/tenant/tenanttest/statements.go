package tenanttest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
)

// Statements is a tracer that records what a pool sends.
type Statements struct {
	mu  sync.Mutex
	all []Statement
}

// Statement is one that was sent.
type Statement struct {
	SQL  string
	Args []any
}

// Of forgets what was sent before, runs fn and answers what it sent that
// contains a text.
func (s *Statements) Of(t *testing.T, text string, fn func() error) []Statement {
	t.Helper()
	s.mu.Lock()
	s.all = nil
	s.mu.Unlock()
	require.NoError(t, fn())
	s.mu.Lock()
	defer s.mu.Unlock()
	found := slices.DeleteFunc(slices.Clone(s.all), func(s Statement) bool { return !strings.Contains(s.SQL, text) })
	require.NotEmpty(t, found, "no statement contains %q", text)
	return found
}

func (s *Statements) note(sql string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, Statement{sql, args})
}

// TraceQueryStart is part of pgx.QueryTracer.
func (s *Statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.note(d.SQL, d.Args)
	return ctx
}

// TraceQueryEnd is part of pgx.QueryTracer.
func (*Statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart is part of pgx.BatchTracer.
func (s *Statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery is part of pgx.BatchTracer.
func (s *Statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.note(d.SQL, d.Args)
}

// TraceBatchEnd is part of pgx.BatchTracer.
func (*Statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Forced explains a statement with a planner that scans a whole table only
// where it must.
func (s Statement) Forced(t *testing.T, db *database.DB) (plan string) {
	t.Helper()
	return explain(t, db, []string{`SET LOCAL enable_seqscan = off`, `SET LOCAL enable_bitmapscan = off`}, s)
}

// Free explains a statement as the planner likes it, for the arguments it was
// sent with.
func (s Statement) Free(t *testing.T, db *database.DB) (plan string) {
	t.Helper()
	return explain(t, db, nil, s)
}

// Generic explains a statement as the planner likes it for whatever arguments:
// the plan that a connection may keep once it ran the statement a few times.
func (s Statement) Generic(t *testing.T, db *database.DB) (plan string) {
	t.Helper()
	if engine, err := db.Engine(context.Background()); err != nil || engine == database.Cockroach {
		require.NoError(t, err)
		return explainOnCockroach(t, db, s)
	}
	execute := `EXECUTE explained`
	if n := len(s.Args); n > 0 {
		execute += `(NULL` + strings.Repeat(`, NULL`, n-1) + `)`
	}
	prepared := []string{`SET LOCAL plan_cache_mode = force_generic_plan`, `PREPARE explained AS ` + s.SQL}
	plan = explain(t, db, prepared, Statement{SQL: execute}, `DEALLOCATE explained`)
	return plan
}

func explain(t *testing.T, db *database.DB, before []string, s Statement, after ...string) string {
	t.Helper()
	ctx := context.Background()
	if engine, err := db.Engine(ctx); err != nil || engine == database.Cockroach {
		require.NoError(t, err)
		return explainOnCockroach(t, db, s)
	}
	var plan []string
	exec := func(tx pgx.Tx, all []string) error {
		for _, sql := range all {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := exec(tx, before); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `EXPLAIN `+s.SQL, s.Args...)
		if err != nil {
			return err
		}
		if plan, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return err
		}
		return exec(tx, after)
	}), s.SQL)
	return strings.Join(plan, "\n")
}

// explainOnCockroach explains a statement as CockroachDB does, which knows no other planner:
// a line names the index of each scan. One of a whole table is no plan that a test wants.
func explainOnCockroach(t *testing.T, db *database.DB, s Statement) string {
	t.Helper()
	rows, err := db.Query(context.Background(), `EXPLAIN `+s.SQL, s.Args...)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, s.SQL)
	text := strings.Join(plan, "\n")
	require.NotContains(t, text, "FULL SCAN", s.SQL)
	return text
}
