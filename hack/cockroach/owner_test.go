package cockroach

import (
	"go/ast"
	"go/constant"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser/statements"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// ownership is what tenant.Tables says of a table.
type ownership struct {
	owner    string
	cascades []string
}

// everyTables are the packages whose statements are of whatever table there is.
var everyTables = []string{"store/tenant", "operations/move"}

// Every statement that writes a table of organizations is its owner's, as tenant.Tables has it.
func TestTablesAreWrittenByTheirOwners(t *testing.T) {
	c := collect(t)
	owners := readOwners(t, c)
	require.Greater(t, len(owners), 60)
	root, err := filepath.Abs("../../pkg")
	require.NoError(t, err)
	checked := 0
	for sql, places := range c.found {
		for _, w := range written(sql) {
			of, ours := owners[w.table]
			if !ours {
				continue
			}
			for _, at := range places {
				from, err := filepath.Rel(root, filepath.Dir(at.Filename))
				require.NoError(t, err)
				checked++
				if strings.HasSuffix(from, "test") || slices.Contains(everyTables, from) || of.allows(from, w) {
					continue
				}
				t.Errorf("%s: %s is written by %s, and is %s's:\n%s", at, w.table, from, of.owner, sql)
			}
		}
	}
	require.Greater(t, checked, 200)
}

func (o ownership) allows(from string, w write) bool {
	return from == o.owner || strings.HasPrefix(from, o.owner+"/") || w.deletes && slices.Contains(o.cascades, from)
}

// written are the tables that a statement writes. What CockroachDB's grammar has no words for
// is for PostgreSQL alone, or no statement; that is read by its verbs.
func written(sql string) (all []write) {
	if parsed, err := parser.Parse(sql); err == nil && !onPostgres(sql) {
		return writes(parsed)
	}
	for _, found := range verbs.FindAllStringSubmatch(sql, -1) {
		all = append(all, write{table: found[2], deletes: strings.HasPrefix(strings.ToUpper(found[1]), "DELETE")})
	}
	return all
}

var verbs = regexp.MustCompile(`(?i)\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(?:ONLY\s+)?([a-z_]+)`)

// write is a table that a statement writes.
type write struct {
	table   string
	deletes bool
}

func writes(parsed statements.Statements) (all []write) {
	for _, s := range parsed {
		walk(reflect.ValueOf(s.AST), func(node any) {
			switch n := node.(type) {
			case *tree.Insert:
				all = append(all, write{table: named(n.Table)})
			case *tree.Update:
				all = append(all, write{table: named(n.Table)})
			case *tree.Delete:
				all = append(all, write{table: named(n.Table), deletes: true})
			}
		})
	}
	return all
}

func named(e tree.TableExpr) string {
	if aliased, ok := e.(*tree.AliasedTableExpr); ok {
		e = aliased.Expr
	}
	if n, ok := e.(*tree.TableName); ok {
		return n.Table()
	}
	return ""
}

func TestWritesAreFound(t *testing.T) {
	for sql, want := range map[string][]write{
		`SELECT a FROM t`:                                                          nil,
		`INSERT INTO t AS x (a) VALUES (1)`:                                        {{table: "t"}},
		`UPDATE t AS x SET a = 1 FROM u`:                                           {{table: "t"}},
		`DELETE FROM t WHERE a IN (SELECT a FROM u)`:                               {{table: "t", deletes: true}},
		`WITH w AS (UPDATE t SET a = 1 RETURNING a) INSERT INTO u SELECT a FROM w`: {{table: "t"}, {table: "u"}},
	} {
		parsed, err := parser.Parse(sql)
		require.NoError(t, err)
		require.ElementsMatch(t, want, writes(parsed), sql)
		require.ElementsMatch(t, want, written(sql), sql)
	}
	onlyPostgres := `BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO t (a) VALUES (1); DELETE FROM ONLY u WHERE a = 1`
	require.Equal(t, []write{{table: "t"}, {table: "u", deletes: true}}, written(onlyPostgres))
}

// readOwners reads tenant.Tables from its source.
func readOwners(t *testing.T, c *collector) map[string]ownership {
	t.Helper()
	owners := map[string]ownership{}
	for _, p := range c.packages {
		if p.PkgPath != "visavis.dev/pkg/store/tenant" {
			continue
		}
		for _, v := range c.values[p.Types.Scope().Lookup("Tables")] {
			for _, e := range v.expr.(*ast.CompositeLit).Elts {
				name, o := readTable(p, e.(*ast.CompositeLit))
				require.NotEmpty(t, o.owner, "the owner of %s", name)
				owners[name] = o
			}
		}
	}
	return owners
}

func readTable(p *packages.Package, literal *ast.CompositeLit) (name string, o ownership) {
	text := func(e ast.Expr) string { return constant.StringVal(p.TypesInfo.Types[e].Value) }
	for _, e := range literal.Elts {
		field := e.(*ast.KeyValueExpr)
		switch field.Key.(*ast.Ident).Name {
		case "Name":
			name = text(field.Value)
		case "Owner":
			o.owner = text(field.Value)
		case "Cascades":
			for _, one := range field.Value.(*ast.CompositeLit).Elts {
				o.cascades = append(o.cascades, text(one))
			}
		}
	}
	return name, o
}
