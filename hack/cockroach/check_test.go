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
const unseen = 20

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
			t.Errorf("%s: %v in\n%s", at[0], err, sql)
			continue
		}
		for _, s := range statements {
			for _, open := range openPlaceholders(s.AST) {
				t.Errorf("%s: the type of %s is open: it needs a cast in\n%s", at[0], open, sql)
			}
		}
	}
}

// onPostgres says that a statement is sent to PostgreSQL alone.
func onPostgres(sql string) bool {
	return strings.Contains(sql, " TEMPLATE ") || strings.Contains(sql, "WITH (FORCE)") || strings.HasPrefix(sql, "BEGIN ISOLATION")
}

func TestMigrationsAreCockroachDBs(t *testing.T) {
	files, err := filepath.Glob("../../pkg/store/database/migrations/*/*.sql")
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
		`SELECT a FROM t WHERE (a, b) > ($1, $2)`:                 nil,
		`SELECT a FROM t WHERE (a, $1) > ($2, $3)`:                {"$1", "$3"},
		`SELECT a FROM t WHERE (a, b) IN (($1, $2), ($3, $4))`:    nil,
		`SELECT a FROM t WHERE ($1, b) IN ((a, $2), ($3, c))`:     {"$1", "$3"},
		`SELECT a FROM t WHERE a IN ($1, $2)`:                     nil,
		`SELECT a FROM t WHERE $1 IN ($2, $3)`:                    {"$1", "$2", "$3"},
		`SELECT a FROM t WHERE $1 IN ('x', 'y')`:                  nil,
		`SELECT a FROM t WHERE a BETWEEN $1 AND $2`:               nil,
		`SELECT a FROM t WHERE $1 BETWEEN $2 AND b`:               {"$1", "$2"},
		`SELECT a FROM t WHERE a = $1 || $2`:                      {"$1", "$2"},
		`SELECT a FROM t WHERE a = b + $1`:                        nil,
		`UPDATE t SET a = CASE WHEN b THEN $1 ELSE $2 END`:        {"$1", "$2"},
		`UPDATE t SET a = CASE WHEN b THEN $1 ELSE a END`:         nil,
		`SELECT NULLIF($1, $2)`:                                   {"$1", "$2"},
		`UPDATE t SET a = greatest($1, $2)`:                       {"$1", "$2"},
		`UPDATE t SET a = greatest(a, $1)`:                        nil,
		`SELECT a FROM t WHERE length($1) > 3`:                    {"$1"},
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
	// together notes expressions that have one type, where none of them tells it.
	together := func(exprs ...tree.Expr) {
		if !slices.ContainsFunc(exprs, func(e tree.Expr) bool { return !bare(e) }) {
			note(exprs...)
		}
	}
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
			if n.Operator.Symbol == treecmp.Any || n.Operator.Symbol == treecmp.All {
				note(n.Left)
			}
			for _, pair := range compared(n) {
				together(pair[0], pair[1])
			}
		case *tree.RangeCond:
			together(n.Left, n.From)
			together(n.Left, n.To)
		case *tree.BinaryExpr:
			together(n.Left, n.Right)
		case *tree.NullIfExpr:
			together(n.Expr1, n.Expr2)
		case *tree.CaseExpr:
			together(results(n)...)
		case *tree.IsNullExpr:
			note(n.Expr)
		case *tree.IsNotNullExpr:
			note(n.Expr)
		case *tree.CoalesceExpr:
			together(n.Exprs...)
		case *tree.FuncExpr:
			switch name := n.Func.String(); name {
			case "unnest", "to_jsonb", "jsonb_build_object", "length":
				note(n.Exprs...)
			case "greatest", "least":
				together(n.Exprs...)
			case "array_append":
				note(n.Exprs[:1]...)
			}
		}
	})
	slices.Sort(open)
	return open
}

func bare(e tree.Expr) bool {
	_, ok := tree.StripParens(e).(*tree.Placeholder)
	return ok
}

// compared are the pairs that a comparison compares: of tuples, and of what may be in a
// list, each with its counterpart.
func compared(n *tree.ComparisonExpr) (pairs [][2]tree.Expr) {
	right, ok := tree.StripParens(n.Right).(*tree.Tuple)
	if n.Operator.Symbol != treecmp.In && n.Operator.Symbol != treecmp.NotIn {
		return matched(n.Left, n.Right)
	}
	if !ok {
		return nil
	}
	for _, e := range right.Exprs {
		pairs = append(pairs, matched(n.Left, e)...)
	}
	return pairs
}

// matched are two expressions, or the members of two tuples.
func matched(left, right tree.Expr) (pairs [][2]tree.Expr) {
	l, lok := tree.StripParens(left).(*tree.Tuple)
	r, rok := tree.StripParens(right).(*tree.Tuple)
	if !lok || !rok || len(l.Exprs) != len(r.Exprs) {
		return [][2]tree.Expr{{left, right}}
	}
	for i := range l.Exprs {
		pairs = append(pairs, [2]tree.Expr{l.Exprs[i], r.Exprs[i]})
	}
	return pairs
}

// results are what a CASE may come to.
func results(n *tree.CaseExpr) (all []tree.Expr) {
	for _, w := range n.Whens {
		all = append(all, w.Val)
	}
	if n.Else != nil {
		all = append(all, n.Else)
	}
	return all
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
