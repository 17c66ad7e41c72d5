package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/id"
)

// record is a row: each column's text, which says everything that its value does; nil for
// NULL.
type record []*string

// keyOf is a row's key after org_id.
func (t table) keyOf(r record) []string {
	key := make([]string, len(t.key))
	for i, at := range t.key {
		key[i] = *r[at]
	}
	return key
}

// joined makes a key one text, to find rows by.
func joined(key []string) string { return strings.Join(key, "\x00") }

// same compares two rows.
func same(a, b record) bool {
	return slices.EqualFunc(a, b, func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b })
}

// query is a statement under construction. Its tables and columns are the catalogue's own
// names; every value is an argument.
type query struct {
	sql  strings.Builder
	args []any
}

func (q *query) add(sql string) { q.sql.WriteString(sql) }

// arg adds an argument and answers its name.
func (q *query) arg(value any) string {
	q.args = append(q.args, value)
	return fmt.Sprintf("$%d", len(q.args))
}

// selecting begins a query for an organisation's rows. It rides the primary key.
func (t table) selecting(org id.Org) *query {
	q := &query{}
	q.add(`SELECT ` + list(t.columns, func(_ int, c column) string { return "t." + c.Name + "::TEXT" }) +
		` FROM ` + t.Name + ` t WHERE t.org_id = ` + q.arg(org))
	return q
}

// compare adds a comparison with a key.
func (t table) compare(q *query, operator string, key []string) {
	q.add(` AND (` + t.keyList("t.") + `) ` + operator + ` (` + list(t.keyColumns(), func(i int, c column) string {
		return q.arg(key[i]) + "::TEXT::" + c.Type
	}) + `)`)
}

// among adds that the key is one of several.
func (t table) among(q *query, keys [][]string) {
	if len(t.key) == 0 {
		return
	}
	q.add(` AND (` + t.keyList("t.") + `) IN (SELECT ` +
		list(t.keyColumns(), func(i int, c column) string { return fmt.Sprintf("k.k%d::%s", i, c.Type) }) + ` FROM unnest(` +
		list(t.keyColumns(), func(i int, _ column) string {
			part := make([]string, len(keys))
			for k := range keys {
				part[k] = keys[k][i]
			}
			return q.arg(part) + "::TEXT[]"
		}) + `) AS k (` + list(t.keyColumns(), func(i int, _ column) string { return fmt.Sprintf("k%d", i) }) + `))`)
}

// page reads rows in their key's order: those after one key, up to another, and some at
// most. No key is no bound.
func (t table) page(ctx context.Context, tx database.Tx, org id.Org, after, upTo []string, limit int) ([]record, error) {
	q := t.selecting(org)
	if len(after) > 0 {
		t.compare(q, ">", after)
	}
	if len(upTo) > 0 {
		t.compare(q, "<=", upTo)
	}
	if len(t.key) > 0 {
		q.add(` ORDER BY ` + t.keyList("t."))
	}
	q.add(` LIMIT ` + q.arg(limit))
	return q.records(ctx, tx)
}

// named reads the rows that keys name, as far as there are any.
func (t table) named(ctx context.Context, tx database.Tx, org id.Org, keys [][]string) ([]record, error) {
	q := t.selecting(org)
	t.among(q, keys)
	return q.records(ctx, tx)
}

// remove deletes the rows that keys name.
func (t table) remove(ctx context.Context, tx database.Tx, org id.Org, keys [][]string) error {
	q := &query{}
	q.add(`DELETE FROM ` + t.Name + ` AS t WHERE t.org_id = ` + q.arg(org))
	t.among(q, keys)
	_, err := tx.Exec(ctx, q.sql.String(), q.args...)
	return err
}

// write writes rows, over those that have their keys.
func (t table) write(ctx context.Context, tx database.Tx, rows []record) error {
	if len(rows) == 0 {
		return nil
	}
	q := &query{}
	q.add(`INSERT INTO ` + t.Name + ` (` + list(t.columns, func(_ int, c column) string { return c.Name }) + `)
		SELECT ` + list(t.columns, func(i int, c column) string { return fmt.Sprintf("r.c%d::%s", i, c.Type) }) + ` FROM unnest(` +
		list(t.columns, func(i int, _ column) string {
			values := make([]*string, len(rows))
			for r := range rows {
				values[r] = rows[r][i]
			}
			return q.arg(values) + "::TEXT[]"
		}) + `) AS r (` + list(t.columns, func(i int, _ column) string { return fmt.Sprintf("c%d", i) }) + `)
		ON CONFLICT (` + strings.Join(append([]string{"org_id"}, t.Key...), ", ") + `) DO ` + t.overwriting())
	_, err := tx.Exec(ctx, q.sql.String(), q.args...)
	return err
}

// overwriting is what becomes of a row that is there.
func (t table) overwriting() string {
	var rest []column
	for i, c := range t.columns {
		if c.Name != "org_id" && !slices.Contains(t.key, i) {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return "NOTHING"
	}
	return "UPDATE SET " + list(rest, func(_ int, c column) string { return c.Name + " = excluded." + c.Name })
}

func (q *query) records(ctx context.Context, tx database.Tx) ([]record, error) {
	rows, err := tx.Query(ctx, q.sql.String(), q.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (record, error) {
		raw := row.RawValues()
		r := make(record, len(raw))
		for i, v := range raw {
			if v != nil {
				text := string(v)
				r[i] = &text
			}
		}
		return r, nil
	})
}
