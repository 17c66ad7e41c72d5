package dashboard

import (
	"cmp"
	"slices"
)

// table is figures by name.
type table struct {
	key, label string
	// name and number are what its columns are called.
	name, number string
	prefix       string
}

// mostRows bounds the rows of a table.
const mostRows = 20

// Table is figures by name, the largest first.
type Table struct {
	Key, Label string
	Columns    []Column
	// Rows have a text or a number for each column.
	Rows [][]any
}

// Column is a column of a table; Type is text or number.
type Column struct{ Key, Label, Type string }

// row is what was counted by a name.
type row struct {
	name   string
	number int64
}

// rows are what was counted, the largest first.
func (t table) rows(c counts) (found []row) {
	for name, n := range c.with(t.prefix) {
		if n > 0 {
			found = append(found, row{name, n})
		}
	}
	slices.SortFunc(found, func(a, b row) int { return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.name, b.name)) })
	return found[:min(len(found), mostRows)]
}

// of is the table with rows, whose names are written as titles says where it says so.
func (t table) of(rows []row, titles map[string]string) Table {
	shown := Table{Key: t.key, Label: t.label, Columns: []Column{{"name", t.name, "text"}, {"number", t.number, "number"}}, Rows: [][]any{}}
	for _, r := range rows {
		shown.Rows = append(shown.Rows, []any{cmp.Or(titles[r.name], r.name), r.number})
	}
	return shown
}
