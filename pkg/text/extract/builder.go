package extract

import (
	"context"
	"strings"
)

// builder gathers a document. Once there is too much text it takes no more and says
// so in err.
type builder struct {
	document Document
	heading  string
	page     int
	text     strings.Builder
	inBlock  bool // the last thing added was a line that others may follow
	size     int  // of all text so far, in bytes
	elements int  // of XML so far
	cells    int  // of tables so far
	err      error
}

// check is what a reader's loop asks between two pieces of work.
func (b *builder) check(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	return ctx.Err()
}

// startHeading begins a section.
func (b *builder) startHeading(heading string) {
	b.close()
	whole := clean(heading)
	b.heading = whole
	b.count(len(b.heading))
	if len(whole) > maxHeading {
		b.heading = strings.TrimSpace(letters(whole, maxHeading))
		b.paragraph(whole)
	}
}

// startPage begins a section under the same heading.
func (b *builder) startPage(page int) {
	b.close()
	b.page = page
	b.document.Pages = max(b.document.Pages, page)
}

// paragraph adds text that flows.
func (b *builder) paragraph(s string) { b.add(s, false) }

// line adds a row of a table or an item of a list.
func (b *builder) line(s string) { b.add(s, true) }

// endBlock sets what follows apart from the lines before it.
func (b *builder) endBlock() { b.inBlock = false }

func (b *builder) add(s string, line bool) {
	s = clean(s)
	if s == "" || !b.count(len(s)) {
		return
	}
	switch {
	case b.text.Len() == 0:
	case line && b.inBlock:
		b.text.WriteByte('\n')
	default:
		b.text.WriteString("\n\n")
	}
	b.text.WriteString(s)
	b.inBlock = line
}

func (b *builder) count(n int) bool {
	if b.size += n; b.size > maxText {
		b.err = ErrTooLarge
	}
	return b.err == nil
}

// element counts one of XML.
func (b *builder) element() error {
	if b.elements++; b.elements > maxElements {
		return ErrTooComplex
	}
	return nil
}

// cell counts cells of tables, before they are gathered into a row.
func (b *builder) cell(n int) error {
	if b.cells += n; b.cells > maxCells {
		return ErrTooComplex
	}
	return nil
}

// close ends the section. A heading with nothing under it says nothing, unless it
// is all that a page says.
func (b *builder) close() {
	s := Section{Heading: b.heading, Text: b.text.String(), Page: b.page}
	b.text.Reset()
	b.inBlock = false
	if s.Text == "" || b.err != nil {
		return
	}
	if len(b.document.Sections) == maxSections {
		b.err = ErrTooLarge
		return
	}
	b.document.Sections = append(b.document.Sections, s)
}
