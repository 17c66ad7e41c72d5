package extract

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// unescape resolves character references.
func unescape(s string) string { return html.UnescapeString(s) }

// extractHTML reads the main part of a page. The parser bounds nesting itself (512
// elements) and refuses more.
func extractHTML(ctx context.Context, data []byte, b *builder) error {
	text := decodeHTML(data)
	if err := surveyTags(text); err != nil {
		return err
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return ErrTooComplex // a parser of text in memory complains of nothing else
	}
	p := &page{ctx: ctx, builder: b}
	main := p.survey(root)
	if b.document.Title == "" {
		b.document.Title = p.h1
	}
	if err := p.walk(main); err != nil {
		return err
	}
	p.flush()
	return nil
}

// decodeHTML honours what the page says of its encoding, where it is not UTF-8.
func decodeHTML(data []byte) string {
	if e, name, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], ""); certain && name != "utf-8" {
		if out, err := e.NewDecoder().Bytes(data); err == nil {
			return string(out)
		}
	}
	return decode(data)
}

// page walks the tree of an HTML document.
type page struct {
	ctx     context.Context
	builder *builder
	h1      string
	text    strings.Builder // of the block that is open
	item    bool            // which is an item of a list
}

// survey finds the title and the main part: the only main element, else the only
// article, else everything.
func (p *page) survey(root *html.Node) *html.Node {
	found := map[atom.Atom][]*html.Node{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Title:
			if p.builder.document.Title == "" && n.Namespace == "" {
				p.builder.document.Title = clean(inner(n))
			}
		case atom.H1:
			if p.h1 == "" {
				p.h1 = clean(inner(n))
			}
		case atom.Main, atom.Article:
			if !dropped(n) {
				found[n.DataAtom] = append(found[n.DataAtom], n)
			}
		}
		if attribute(n, "role") == "main" && n.DataAtom != atom.Main {
			found[atom.Main] = append(found[atom.Main], n)
		}
	}
	for _, kind := range []atom.Atom{atom.Main, atom.Article} {
		if nodes := found[kind]; len(nodes) == 1 && clean(inner(nodes[0])) != "" {
			return nodes[0]
		}
	}
	return root
}

// walk reads what is under a node. Its depth is the parser's, which is bounded.
func (p *page) walk(parent *html.Node) error {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		if err := p.builder.check(p.ctx); err != nil {
			return err
		}
		if n.Type == html.TextNode {
			p.text.WriteString(n.Data)
			continue
		}
		if n.Type != html.ElementNode || dropped(n) {
			continue
		}
		if err := p.element(n); err != nil {
			return err
		}
	}
	return nil
}

func (p *page) element(n *html.Node) error {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.flush()
		p.builder.startHeading(inner(n))
		return nil
	case atom.Br:
		p.text.WriteByte(' ')
		return nil
	case atom.Img:
		p.text.WriteString(" " + attribute(n, "alt") + " ")
		return nil
	case atom.Table:
		p.flush()
		if data := tableRows(n); data != nil {
			return p.table(data)
		}
		return p.walk(n)
	case atom.Li, atom.Dd, atom.Dt:
		p.flush()
		p.item = true
		err := p.walk(n)
		p.flush()
		return err
	}
	if !blocks[n.DataAtom] {
		return p.walk(n)
	}
	inItem := p.item && strings.TrimSpace(p.text.String()) == ""
	if !inItem {
		p.flush()
	}
	err := p.walk(n)
	p.flush()
	if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol || n.DataAtom == atom.Dl {
		p.builder.endBlock()
	}
	return err
}

func (p *page) flush() {
	text := clean(p.text.String())
	p.text.Reset()
	switch {
	case text == "":
	case p.item:
		p.builder.line("- " + text)
	default:
		p.builder.paragraph(text)
	}
	p.item = false
}

func (p *page) table(rows [][]string) error {
	p.builder.endBlock()
	t := &table{builder: p.builder}
	for _, cells := range rows {
		if err := t.row(p.ctx, cells); err != nil {
			return err
		}
	}
	t.end(len(rows))
	return nil
}

// tableRows reads a table of data. One that holds another table, headings or a single
// column is a layout, and no table: nil.
func tableRows(n *html.Node) [][]string {
	var rows [][]string
	widest := 0
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3:
			return nil
		case atom.Tr:
			var cells []string
			for c := range d.ChildNodes() {
				if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
					cells = append(cells, inner(c))
				}
			}
			widest = max(widest, len(cells))
			rows = append(rows, cells)
		}
	}
	if widest < 2 {
		return nil
	}
	return rows
}
