package extract

import (
	"context"
	"strings"
)

// maxColumns bounds the columns of a table that have names.
const maxColumns = 1000

// table writes rows so that each can be read alone: "Column: value; Column: value".
// The first row with text names the columns.
type table struct {
	builder *builder
	header  []string
}

func (t *table) row(ctx context.Context, cells []string) error {
	if err := t.builder.check(ctx); err != nil {
		return err
	}
	if t.header == nil {
		t.setHeader(cells)
		return nil
	}
	t.builder.line(t.sentence(cells))
	return nil
}

func (t *table) setHeader(cells []string) {
	named := false
	header := make([]string, min(len(cells), maxColumns))
	for i := range header {
		header[i] = strings.TrimSuffix(clean(cells[i]), ":")
		named = named || header[i] != ""
	}
	if named {
		t.header = header
	}
}

func (t *table) sentence(cells []string) string {
	var out strings.Builder
	for i, cell := range cells {
		cell = clean(cell)
		if cell == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("; ")
		}
		if i < len(t.header) && t.header[i] != "" {
			out.WriteString(t.header[i] + ": ")
		}
		out.WriteString(cell)
	}
	return out.String()
}

// end writes a table of one row: it has no columns, only cells.
func (t *table) end(rows int) {
	if rows == 1 && t.header != nil {
		t.builder.line(strings.Join(t.header, "; "))
	}
	t.builder.endBlock()
}
