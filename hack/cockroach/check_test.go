package cockroach

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
	"github.com/stretchr/testify/require"
)

// leastStatements is far fewer than there are: fewer were found means that they were not
// looked for.
const leastStatements = 600

// unseen is how many calls may send what was put together out of sight.
const unseen = 40

func TestStatementsAreCockroachDBs(t *testing.T) {
	c := collect(t)
	require.Greater(t, len(c.found), leastStatements)
	require.Less(t, len(c.unknown), unseen, "%v", c.unknown)
	t.Logf("%d statements, %d calls with others: %v", len(c.found), len(c.unknown), c.unknown)
	for sql, at := range c.found {
		if !strings.ContainsAny(sql, " ") || onPostgres(sql) {
			continue
		}
		statements, err := parser.Parse(sql)
		if err != nil {
			t.Errorf("%s: %v in\n%s", at, err, sql)
			continue
		}
		for _, s := range statements {
			for _, open := range openPlaceholders(s.AST) {
				t.Errorf("%s: the type of %s is open: it needs a cast in\n%s", at, open, sql)
			}
		}
	}
}

// onPostgres says that a statement is sent to PostgreSQL alone.
func onPostgres(sql string) bool {
	return strings.Contains(sql, " TEMPLATE ") || strings.Contains(sql, "WITH (FORCE)") || strings.HasPrefix(sql, "BEGIN ISOLATION")
}

func TestMigrationsAreCockroachDBs(t *testing.T) {
	files, err := filepath.Glob("../../pkg/database/migrations/*/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = parser.Parse(string(text))
		require.NoError(t, err, file)
	}
}

func TestOpenPlaceholdersAreFound(t *testing.T) {
	for sql, open := range map[string][]string{
		`SELECT $1`:                                               {"$1"},
		`SELECT $1, a FROM t WHERE b = $2`:                        {"$1"},
		`SELECT $1::TEXT`:                                         nil,
		`SELECT a FROM t WHERE $1 = ANY(tags)`:                    {"$1"},
		`SELECT a FROM t WHERE $1::TEXT = ANY(tags)`:              nil,
		`SELECT a FROM t WHERE a = ANY($1)`:                       nil,
		`SELECT a FROM t WHERE $1 IS NULL OR a = $1`:              {"$1"},
		`SELECT a FROM t WHERE $1::TEXT[] IS NULL OR a = ANY($1)`: nil,
		`SELECT a FROM t WHERE $1 = $2`:                           {"$1", "$2"},
		`SELECT a FROM t WHERE EXISTS (SELECT $1 FROM u)`:         {"$1"},
		`SELECT COALESCE($1, $2)`:                                 {"$1", "$2"},
		`SELECT unnest($1)`:                                       {"$1"},
		`INSERT INTO t (a, b) SELECT $1, c FROM u`:                nil,
		`INSERT INTO t (a, b) VALUES ($1, $2)`:                    nil,
		`UPDATE t SET a = $1 WHERE b = $2`:                        nil,
		`WITH w AS (SELECT $1 AS x) SELECT a FROM t`:              {"$1"},
	} {
		s, err := parser.ParseOne(sql)
		require.NoError(t, err, sql)
		require.Equal(t, open, openPlaceholders(s.AST), sql)
	}
}

// openPlaceholders are those in a place from which CockroachDB cannot tell their type.
// PostgreSQL takes text there, or learns it from another place.
func openPlaceholders(s tree.Statement) (open []string) {
	note := func(exprs ...tree.Expr) {
		for _, e := range exprs {
			if p, ok := tree.StripParens(e).(*tree.Placeholder); ok && !slices.Contains(open, p.String()) {
				open = append(open, p.String())
			}
		}
	}
	bare := func(e tree.Expr) bool { _, ok := tree.StripParens(e).(*tree.Placeholder); return ok }
	inserted := map[*tree.SelectClause]bool{}
	walk(reflect.ValueOf(s), func(node any) {
		switch n := node.(type) {
		case *tree.Insert:
			// Its columns' types are known from the table.
			if clause, ok := n.Rows.Select.(*tree.SelectClause); ok {
				inserted[clause] = true
			}
		case *tree.SelectClause:
			for _, e := range n.Exprs {
				if !inserted[n] {
					note(e.Expr)
				}
			}
		case *tree.ComparisonExpr:
			if n.Operator.Symbol == treecmp.Any || n.Operator.Symbol == treecmp.All || bare(n.Left) && bare(n.Right) {
				note(n.Left)
			}
			if bare(n.Left) && bare(n.Right) {
				note(n.Right)
			}
		case *tree.IsNullExpr:
			note(n.Expr)
		case *tree.IsNotNullExpr:
			note(n.Expr)
		case *tree.CoalesceExpr:
			if !slices.ContainsFunc(n.Exprs, func(e tree.Expr) bool { return !bare(e) }) {
				note(n.Exprs...)
			}
		case *tree.FuncExpr:
			if name := n.Func.String(); name == "unnest" || name == "to_jsonb" || name == "jsonb_build_object" || name == "array_append" && bare(n.Exprs[0]) {
				note(n.Exprs...)
			}
		}
	})
	slices.Sort(open)
	return open
}

// walk visits every node of a statement, those above first.
func walk(v reflect.Value, visit func(any)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), visit)
		}
	case reflect.Pointer:
		if v.IsNil() || !strings.HasSuffix(v.Type().Elem().PkgPath(), "/sem/tree") {
			return
		}
		if v.CanInterface() {
			visit(v.Interface())
		}
		walk(v.Elem(), visit)
	case reflect.Struct:
		if !strings.HasSuffix(v.Type().PkgPath(), "/sem/tree") {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	}
}
