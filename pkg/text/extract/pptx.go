package extract

import (
	"context"
	"encoding/xml"
	"strings"
)

// extractPPTX reads the slides in their order: the title of a slide is its heading,
// and its notes follow it.
func extractPPTX(ctx context.Context, data []byte, b *builder) error {
	a, err := openArchive(data, b)
	if err != nil {
		return err
	}
	b.document.Title = a.title(ctx)
	const presentation = "ppt/presentation.xml"
	related, err := a.relations(ctx, presentation)
	if err != nil {
		return err
	}
	order := &slideOrder{}
	if err := a.read(ctx, presentation, order); err != nil {
		return err
	}
	for i, id := range order.ids {
		b.startPage(i + 1)
		if err := extractSlide(ctx, a, related[id].target, b); err != nil {
			return err
		}
	}
	return nil
}

func extractSlide(ctx context.Context, a *archive, part string, b *builder) error {
	slide := &slideReader{ctx: ctx, builder: b}
	if err := a.read(ctx, part, slide); err != nil || slide.hidden {
		return err
	}
	related, err := a.relations(ctx, part)
	if err != nil {
		return err
	}
	notes := &slideReader{ctx: ctx, builder: b, notes: true}
	for _, r := range related {
		if r.kind == "notesSlide" {
			if err := a.read(ctx, r.target, notes); err != nil {
				return err
			}
		}
	}
	b.startHeading(slide.title)
	for _, p := range append(slide.paragraphs, notes.paragraphs...) {
		if p.row != nil {
			b.line(strings.Join(p.row, "; "))
		} else {
			b.endBlock()
			b.paragraph(p.text)
		}
	}
	if b.text.Len() == 0 {
		b.paragraph(slide.title) // all that the slide says
	}
	return b.check(ctx)
}

// slideOrder reads the ids of the slides' relations.
type slideOrder struct{ ids []string }

func (s *slideOrder) begin(e xml.StartElement) error {
	if e.Name.Local != "sldId" {
		return nil
	}
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			s.ids = append(s.ids, a.Value)
		}
	}
	return nil
}

func (*slideOrder) end(string) error { return nil }
func (*slideOrder) text([]byte)      {}

// slideParagraph is either text or a row of a table.
type slideParagraph struct {
	text string
	row  []string
}

// slideReader walks the shapes of a slide, or of its notes.
type slideReader struct {
	ctx        context.Context
	builder    *builder
	notes      bool
	hidden     bool
	title      string
	paragraphs []slideParagraph

	kind   string // of the shape's placeholder
	inText bool
	line   strings.Builder
	row    []string
	cell   strings.Builder
	inRow  bool
	skip   int
}

func (s *slideReader) begin(e xml.StartElement) error {
	if s.skip > 0 || e.Name.Local == "Fallback" {
		s.skip++
		return nil
	}
	switch e.Name.Local {
	case "sld":
		s.hidden = attr(e, "show") == "0"
	case "sp":
		s.kind = ""
	case "ph":
		s.kind = attr(e, "type")
	case "t":
		s.inText = true
	case "br", "tab":
		s.line.WriteByte(' ')
	case "tc":
		return s.builder.cell(1)
	case "tr":
		s.inRow, s.row = true, nil
	}
	return nil
}

func (s *slideReader) text(data []byte) {
	if s.inText && s.skip == 0 {
		s.line.Write(data)
	}
}

func (s *slideReader) end(local string) error {
	if s.skip > 0 {
		s.skip--
		return nil
	}
	switch local {
	case "t":
		s.inText = false
	case "p":
		s.endParagraph()
	case "tc":
		s.row = append(s.row, clean(s.cell.String()))
		s.cell.Reset()
	case "tr":
		s.inRow = false
		s.paragraphs = append(s.paragraphs, slideParagraph{row: s.row})
	}
	return s.ctx.Err()
}

func (s *slideReader) endParagraph() {
	text := clean(s.line.String())
	s.line.Reset()
	switch {
	case text == "":
	case s.inRow:
		s.cell.WriteString(text + " ")
	case s.kind == "sldNum" || s.kind == "dt" || s.kind == "ftr" || s.kind == "hdr": // furniture
	case !s.notes && (s.kind == "title" || s.kind == "ctrTitle"):
		s.title = strings.TrimSpace(s.title + " " + text)
	default:
		s.paragraphs = append(s.paragraphs, slideParagraph{text: text})
	}
}
