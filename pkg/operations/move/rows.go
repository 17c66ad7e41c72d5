package move

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
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

// selecting begins a query for an organization's rows. It rides the primary key.
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
// most, of so many bytes at most unless it is one row. No key is no bound, and so are no
// bytes. more says that it ended for one of the two.
func (t table) page(ctx context.Context, tx database.Tx, org id.Org, after, upTo []string, limit, bytes int) (rows []record, more bool, err error) {
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
	rows, more, err = q.records(ctx, tx, bytes)
	return rows, more || len(rows) == limit, err
}

// last is the last key of an organization's rows; nil where there are none. It rides the
// primary key.
func (t table) last(ctx context.Context, tx database.Tx, org id.Org) ([]string, error) {
	q := t.selecting(org)
	q.add(` ORDER BY ` + list(t.keyColumns(), func(_ int, c column) string { return "t." + c.Name + " DESC" }) + ` LIMIT 1`)
	rows, _, err := q.records(ctx, tx, 0)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return t.keyOf(rows[0]), nil
}

// named reads the rows that keys name, as far as there are any.
func (t table) named(ctx context.Context, tx database.Tx, org id.Org, keys [][]string) (all []record, err error) {
	for _, some := range portions(keys, keyBytes) {
		q := t.selecting(org)
		t.among(q, some)
		rows, _, err := q.records(ctx, tx, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// remove deletes the rows that keys name.
func (t table) remove(ctx context.Context, tx database.Tx, org id.Org, keys [][]string) error {
	for _, some := range portions(keys, keyBytes) {
		q := &query{}
		q.add(`DELETE FROM ` + t.Name + ` AS t WHERE t.org_id = ` + q.arg(org))
		t.among(q, some)
		if _, err := tx.Exec(ctx, q.sql.String(), q.args...); err != nil {
			return err
		}
	}
	return nil
}

// write writes rows, over those that have their keys.
func (t table) write(ctx context.Context, tx database.Tx, rows []record) error {
	for _, some := range portions(rows, record.bytes) {
		if err := t.writeSome(ctx, tx, some); err != nil {
			return err
		}
	}
	return nil
}

func (t table) writeSome(ctx context.Context, tx database.Tx, rows []record) error {
	q := &query{}
	args := make([]string, len(t.columns))
	for i, c := range t.columns {
		var err error
		if args[i], err = q.argOf(c, rows, i); err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name, c.Name, err)
		}
	}
	q.add(`INSERT INTO ` + t.Name + ` (` + list(t.columns, func(_ int, c column) string { return c.Name }) + `)
		SELECT ` + list(t.columns, func(i int, c column) string { return fmt.Sprintf("r.c%d::%s", i, c.Type) }) + ` FROM unnest(` +
		strings.Join(args, ", ") + `) AS r (` + list(t.columns, func(i int, _ column) string { return fmt.Sprintf("c%d", i) }) + `)
		ON CONFLICT (` + strings.Join(append([]string{"org_id"}, t.Key...), ", ") + `) DO ` + t.overwriting())
	_, err := tx.Exec(ctx, q.sql.String(), q.args...)
	return err
}

// argOf adds a column of rows as an argument: texts, but bytes as they are, of which the text
// would be twice as long.
func (q *query) argOf(c column, rows []record, at int) (string, error) {
	if c.Type != "bytea" {
		values := make([]*string, len(rows))
		for r := range rows {
			values[r] = rows[r][at]
		}
		return q.arg(values) + "::TEXT[]", nil
	}
	values := make([][]byte, len(rows))
	for r := range rows {
		if text := rows[r][at]; text != nil {
			raw, err := hex.DecodeString(strings.TrimPrefix(*text, `\x`))
			if err != nil {
				return "", err
			}
			values[r] = raw
		}
	}
	return q.arg(values) + "::BYTEA[]", nil
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

// records reads rows, of so many bytes at most unless it is one; zero is no bound. more says
// that there are others.
func (q *query) records(ctx context.Context, tx database.Tx, most int) (all []record, more bool, err error) {
	rows, err := tx.Query(ctx, q.sql.String(), q.args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	sum := 0
	for rows.Next() {
		raw := rows.RawValues()
		r := make(record, len(raw))
		for i, v := range raw {
			if v != nil {
				r[i] = new(string(v))
			}
		}
		if sum += r.bytes(); most > 0 && sum > most && len(all) > 0 {
			rows.Close()
			return all, true, rows.Err()
		}
		all = append(all, r)
	}
	return all, false, rows.Err()
}
