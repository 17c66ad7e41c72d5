package extract

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
)

// extractMarkdown reads the syntax tree, so that no markup is left. HTML within is
// dropped but for the text between inline tags. Front matter is not part of the text.
func extractMarkdown(ctx context.Context, data []byte, b *builder) error {
	source, err := markdownSource(newlines(decode(data)))
	if err != nil {
		return err
	}
	return readMarkdown(ctx, source, b)
}

// markdownSource is what the parser may be given of a text.
func markdownSource(text string) ([]byte, error) {
	source := []byte(tame(withoutFrontMatter(text)))
	switch {
	case len(source) > maxText:
		return nil, ErrTooLarge
	case deepQuotes(source), tooMany(source, "\n", maxLines), tooMany(source, marks+"|", maxLines), wideTables(source):
		return nil, ErrTooComplex
	}
	return source, nil
}

func readMarkdown(ctx context.Context, source []byte, b *builder) error {
	root := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser().Parse(gtext.NewReader(source))
	m := &markdown{ctx: ctx, source: source, builder: b}
	return m.blocks(root, 0)
}

// withoutFrontMatter drops a block between lines of three hyphens at the very start.
func withoutFrontMatter(s string) string {
	if !strings.HasPrefix(s, "---\n") {
		return s
	}
	if _, rest, ok := strings.Cut(s[3:], "\n---\n"); ok {
		return rest
	}
	return s
}

// marks are the characters that begin or end something within a paragraph, and
// maxMarks bounds them there: the parser's time grows with their square, and nothing
// interrupts it.
const (
	marks    = "[]*_`<&~!"
	maxMarks = 2000
)

// tame divides paragraphs that have more marks than anybody writes, and takes the
// marks out of such a line.
func tame(source string) string {
	var out strings.Builder
	out.Grow(len(source))
	count := 0
	for line := range strings.Lines(source) {
		n := 0
		for i := range len(line) {
			if strings.IndexByte(marks, line[i]) >= 0 {
				n++
			}
		}
		if n > maxMarks {
			line, n = strings.Map(unmark, line), 0
		}
		if count += n; count > maxMarks {
			out.WriteByte('\n')
			count = n
		}
		if strings.TrimSpace(line) == "" {
			count = 0
		}
		out.WriteString(line)
	}
	return out.String()
}

func unmark(r rune) rune {
	if strings.ContainsRune(marks, r) {
		return ' '
	}
	return r
}

// deepQuotes finds lines that open more blocks than anybody writes; each costs the
// parser a level on every line that follows.
func deepQuotes(source []byte) bool {
	for line := range bytes.Lines(source) {
		rest := bytes.TrimLeft(line, "> -*+\t")
		opening := line[:len(line)-len(rest)]
		// A rule may be long, but is of one kind and has nothing after it.
		if len(opening) > maxNesting && (bytes.IndexByte(opening, '>') >= 0 || len(bytes.TrimSpace(rest)) > 0) {
			return true
		}
	}
	return false
}

// wideTables finds tables of more cells than may be read. The parser makes every row, which
// is any line that follows, as wide as the line of hyphens under the first.
func wideTables(source []byte) bool {
	columns, cells := 0, 0
	for line := range bytes.Lines(source) {
		switch rest := bytes.TrimLeft(line, "|-: \t>"); {
		case len(bytes.TrimSpace(line)) == 0:
			columns = 0
		case len(bytes.TrimSpace(rest)) == 0 && bytes.IndexByte(line, '|') >= 0:
			columns = bytes.Count(line, []byte("|")) + 1
		}
		if cells += columns; cells > maxCells {
			return true
		}
	}
	return false
}

// markdown walks the tree.
type markdown struct {
	ctx     context.Context
	source  []byte
	builder *builder
}

func (m *markdown) blocks(parent ast.Node, depth int) error {
	if depth > maxNesting {
		return ErrTooComplex
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if err := m.builder.check(m.ctx); err != nil {
			return err
		}
		if err := m.block(n, depth); err != nil {
			return err
		}
	}
	return nil
}

func (m *markdown) block(n ast.Node, depth int) error {
	switch n := n.(type) {
	case *ast.Heading:
		heading := m.inline(n)
		if n.Level == 1 && m.builder.document.Title == "" {
			m.builder.document.Title = heading
		}
		m.builder.startHeading(heading)
	case *ast.Paragraph, *ast.TextBlock:
		if _, ok := n.Parent().(*ast.ListItem); ok {
			m.builder.line("- " + m.inline(n))
		} else {
			m.paragraph(n)
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		m.builder.endBlock()
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			m.builder.line(string(line.Value(m.source)))
		}
		m.builder.endBlock()
	case *ast.HTMLBlock:
	case *east.Table:
		return m.table(n)
	case *ast.List:
		if depth == 0 {
			m.builder.endBlock()
		}
		return m.blocks(n, depth+1)
	default:
		return m.blocks(n, depth+1)
	}
	return nil
}

func (m *markdown) table(n *east.Table) error {
	m.builder.endBlock()
	t, rows := &table{builder: m.builder}, 0
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, m.inline(c))
		}
		rows++
		if err := cmp.Or(m.builder.cell(len(cells)), t.row(m.ctx, cells)); err != nil {
			return err
		}
	}
	t.end(rows)
	return nil
}

// paragraph keeps the lines that somebody ended on purpose.
func (m *markdown) paragraph(n ast.Node) {
	const soft, hard = "\n", "\f"
	for lines := range strings.SplitSeq(m.text(n, soft, hard), hard) {
		if lines = strings.TrimSpace(lines); lines != "" {
			m.builder.lines(strings.Split(lines, soft))
		}
	}
}

// inline is the text within a block, on one line.
func (m *markdown) inline(n ast.Node) string { return m.text(n, " ", " ") }

// text is what stands within a block, with what its two kinds of line breaks become.
func (m *markdown) text(parent ast.Node, soft, hard string) string {
	var out strings.Builder
	_ = ast.Walk(parent, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Value(m.source))
			switch {
			case n.HardLineBreak():
				out.WriteString(hard)
			case n.SoftLineBreak():
				out.WriteString(soft)
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(m.source))
		}
		return ast.WalkContinue, nil
	})
	return unescape(out.String())
}
