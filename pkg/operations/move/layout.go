package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

// table is a tenant table as a database has it.
type table struct {
	tenant.Table
	// columns by name; the key's are among them.
	columns []column
	// key are the places of the key's columns, after org_id.
	key []int
	// parent says that rows of other tables refer to this one's.
	parent bool
}

type column struct{ Name, Type string }

// layout are the tables whose rows move, those that others refer to first.
type layout []table

// readLayout asks a database what its tables are like.
func readLayout(ctx context.Context, db *database.DB) (layout, error) {
	var (
		names []string
		all   layout
		found = map[string][]column{}
	)
	for _, t := range slices.Backward(tenant.Tables) { // they can be deleted in that order
		if !t.Stays {
			names, all = append(names, t.Name), append(all, table{Table: t})
		}
	}
	rows, err := db.Query(ctx, `
		SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
		FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
		JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relname = ANY($1) AND c.relkind = 'r' ORDER BY c.relname, a.attname`, names)
	if err != nil {
		return nil, err
	}
	var name string
	var c column
	if _, err := pgx.ForEachRow(rows, []any{&name, &c.Name, &c.Type}, func() error {
		found[name] = append(found[name], c)
		return nil
	}); err != nil {
		return nil, err
	}
	parents, err := readParents(ctx, db)
	if err != nil {
		return nil, err
	}
	for i := range all {
		t := &all[i]
		t.columns, t.parent = found[t.Name], slices.Contains(parents, t.Name)
		for _, k := range t.Key {
			at := slices.IndexFunc(t.columns, func(c column) bool { return c.Name == k })
			if at < 0 {
				return nil, fmt.Errorf("table %s has no column %s", t.Name, k)
			}
			t.key = append(t.key, at)
		}
	}
	return all, nil
}

// readParents are the tables that foreign keys refer to.
func readParents(ctx context.Context, db *database.DB) ([]string, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT c.relname FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.confrelid
		WHERE k.contype = 'f'`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// equal compares what two databases have.
func (l layout) equal(other layout) bool {
	return slices.EqualFunc(l, other, func(a, b table) bool {
		return a.Name == b.Name && slices.Equal(a.columns, b.columns) && a.parent == b.parent
	})
}

// find finds a table by its name.
func (l layout) find(name string) (table, bool) {
	i := slices.IndexFunc(l, func(t table) bool { return t.Name == name })
	if i < 0 {
		return table{}, false
	}
	return l[i], true
}

// keyColumns are the key's, after org_id.
func (t table) keyColumns() []column {
	all := make([]column, len(t.key))
	for i, at := range t.key {
		all[i] = t.columns[at]
	}
	return all
}

// keyList lists the key's columns with a prefix.
func (t table) keyList(prefix string) string {
	return list(t.keyColumns(), func(_ int, c column) string { return prefix + c.Name })
}

// list writes columns one by one.
func list(columns []column, write func(place int, c column) string) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = write(i, c)
	}
	return strings.Join(all, ", ")
}
