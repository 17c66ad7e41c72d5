package extract

import (
	"context"
	"encoding/xml"
	"strings"
)

// extractDOCX reads the body of a Word document, then its foot- and endnotes. Running
// headers and footers are left out.
func extractDOCX(ctx context.Context, data []byte, b *builder) error {
	a, err := openArchive(data, b)
	if err != nil {
		return err
	}
	b.document.Title = a.title(ctx)
	styles := &styleReader{level: map[string]bool{}, based: map[string]string{}}
	if err := a.read(ctx, "word/styles.xml", styles); err != nil {
		return err
	}
	for _, part := range []string{"word/document.xml", "word/footnotes.xml", "word/endnotes.xml"} {
		w := &wordReader{ctx: ctx, builder: b, heading: styles.heading}
		if err := a.read(ctx, part, w); err != nil {
			return err
		}
	}
	return nil
}

// styleReader learns which paragraph styles are headings: those with an outline
// level, or a name that says so, or based on such a one.
type styleReader struct {
	id    string
	level map[string]bool
	based map[string]string
}

func (s *styleReader) begin(e xml.StartElement) error {
	switch e.Name.Local {
	case "style":
		s.id = attr(e, "styleId")
	case "name":
		name := strings.ToLower(attr(e, "val"))
		if strings.HasPrefix(name, "heading ") || name == "title" {
			s.level[s.id] = true
		}
	case "basedOn":
		s.based[s.id] = attr(e, "val")
	case "outlineLvl":
		s.level[s.id] = attr(e, "val") != "9" // body text
	}
	return nil
}

func (s *styleReader) end(string) error { return nil }
func (s *styleReader) text([]byte)      {}

func (s *styleReader) heading(id string) bool {
	if strings.HasPrefix(id, "Heading") {
		return true
	}
	for range 10 {
		if heading, ok := s.level[id]; ok {
			return heading
		}
		id = s.based[id]
	}
	return false
}

// wordReader walks paragraphs and tables.
type wordReader struct {
	ctx     context.Context
	builder *builder
	heading func(style string) bool

	paragraph strings.Builder
	inText    bool
	isHeading bool
	isItem    bool
	skip      int // depth within what is not shown, or shown elsewhere

	tables []*wordTable // the outermost first
}

// wordTable is a table that is open. One within another is a part of its cell.
type wordTable struct {
	table
	cells []string
	cell  strings.Builder
	rows  int
}

func (w *wordReader) begin(e xml.StartElement) error {
	if w.skip > 0 || skipped(e.Name.Local) {
		w.skip++
		return nil
	}
	switch e.Name.Local {
	case "p":
		w.paragraph.Reset()
		w.isHeading, w.isItem = false, false
	case "pStyle":
		w.isHeading = w.heading(attr(e, "val"))
	case "outlineLvl":
		w.isHeading = attr(e, "val") != "9"
	case "numPr":
		w.isItem = true
	case "t":
		w.inText = true
	case "tab", "br", "cr":
		w.paragraph.WriteByte(' ')
	case "noBreakHyphen":
		w.paragraph.WriteByte('-')
	case "tc":
		return w.builder.cell(1)
	case "tbl":
		w.builder.endBlock()
		w.tables = append(w.tables, &wordTable{table: table{builder: w.builder}})
	}
	return nil
}

// skipped are deleted text, instructions of fields, and the second telling of a shape
// for old readers.
func skipped(local string) bool {
	switch local {
	case "del", "moveFrom", "instrText", "delText", "Fallback", "rPr", "sectPr":
		return true
	}
	return false
}

func (w *wordReader) text(data []byte) {
	if w.inText && w.skip == 0 {
		w.paragraph.Write(data)
	}
}

func (w *wordReader) end(local string) error {
	if w.skip > 0 {
		w.skip--
		return nil
	}
	switch local {
	case "t":
		w.inText = false
	case "p":
		w.endParagraph()
	case "tc":
		if t := w.table(); t != nil {
			t.cells = append(t.cells, t.cell.String())
			t.cell.Reset()
		}
	case "tr":
		return w.endRow()
	case "tbl":
		w.endTable()
	}
	return w.builder.check(w.ctx)
}

func (w *wordReader) table() *wordTable {
	if n := len(w.tables); n > 0 {
		return w.tables[n-1]
	}
	return nil
}

func (w *wordReader) endParagraph() {
	text := w.paragraph.String()
	w.paragraph.Reset()
	switch t := w.table(); {
	case t != nil:
		t.cell.WriteString(text + " ")
	case w.isHeading && clean(text) != "":
		w.builder.startHeading(text)
		if w.builder.document.Title == "" {
			w.builder.document.Title = text
		}
	case w.isItem && clean(text) != "":
		w.builder.line("- " + text)
	default:
		w.builder.paragraph(text)
	}
}

func (w *wordReader) endRow() error {
	t := w.table()
	if t == nil {
		return nil
	}
	cells := t.cells
	t.cells = nil
	t.rows++
	if n := len(w.tables); n > 1 {
		w.tables[n-2].cell.WriteString(strings.Join(cells, " ") + " ")
		return nil
	}
	return t.row(w.ctx, cells)
}

func (w *wordReader) endTable() {
	n := len(w.tables)
	if n == 0 {
		return
	}
	if n == 1 {
		w.tables[0].end(w.tables[0].rows)
	}
	w.tables = w.tables[:n-1]
}
