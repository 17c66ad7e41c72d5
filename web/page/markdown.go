package page

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// table aligns cells without a style, which the pages' policy forbids.
var table = extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))

// writer turns Markdown into HTML. Raw HTML is left out, and so is every address
// that is not a web page's; pictures become links, since pages load nothing from
// elsewhere.
var writer = goldmark.New(
	goldmark.WithExtensions(table, extension.Strikethrough, extension.Linkify),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(tamed{}, 100))),
	goldmark.WithRendererOptions(html.WithXHTML()),
)

// markdown is a customer's text as it is shown under a heading of a level.
func markdown(source string, under int) template.HTML {
	context := parser.NewContext()
	context.Set(headingsUnder, under)
	var out bytes.Buffer
	if err := writer.Convert([]byte(source), &out, parser.WithContext(context)); err != nil {
		return template.HTML(template.HTMLEscapeString(source)) //nolint:gosec // it is escaped
	}
	return template.HTML(out.String()) //nolint:gosec // the writer leaves out what is not safe
}

var headingsUnder = parser.NewContextKey()

// tamed fits a text into a page: headings come below the page's own, links open
// elsewhere, pictures are links.
type tamed struct{}

// Transform implements parser.ASTTransformer.
func (tamed) Transform(document *ast.Document, reader text.Reader, pc parser.Context) {
	under, _ := pc.Get(headingsUnder).(int)
	var (
		pictures []*ast.Image
		bare     []*ast.AutoLink
	)
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+under, 6)
		case *ast.Link:
			n.Destination = outward(n, n.Destination)
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkURL && outward(n, n.URL(reader.Source())) == nil {
				bare = append(bare, n)
			}
		case *ast.Image:
			pictures = append(pictures, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range bare {
		n.Parent().ReplaceChild(n.Parent(), n, ast.NewString(util.EscapeHTML(n.Label(reader.Source()))))
	}
	for _, p := range pictures {
		link := ast.NewLink()
		link.Destination = outward(link, p.Destination)
		for c := p.FirstChild(); c != nil; c = p.FirstChild() {
			link.AppendChild(link, c)
		}
		if link.ChildCount() == 0 {
			link.AppendChild(link, ast.NewString(util.EscapeHTML(p.Destination)))
		}
		p.Parent().ReplaceChild(p.Parent(), p, link)
	}
}

// outward marks a link to elsewhere; an address that is no web page's or mail's
// becomes none.
func outward(n ast.Node, address []byte) []byte {
	n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
	if !webAddress(string(address)) && !strings.HasPrefix(string(address), "mailto:") {
		return nil
	}
	n.SetAttributeString("target", []byte("_blank"))
	return address
}

// webAddress says whether something is the address of a web page.
func webAddress(s string) bool {
	at, err := url.Parse(s)
	return err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != ""
}

// shownPlain is how much of a text a card shows, in characters.
const shownPlain = 220

// plain is the beginning of a Markdown text without its marks.
func plain(source string) string {
	bytes := []byte(source)
	var out strings.Builder
	_ = ast.Walk(writer.Parser().Parse(text.NewReader(bytes)), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				_, _ = out.Write(n.Segment.Value(bytes))
				if n.SoftLineBreak() || n.HardLineBreak() {
					_ = out.WriteByte(' ')
				}
			}
		case *ast.AutoLink:
			if entering {
				_, _ = out.Write(n.Label(bytes))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				_ = out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	letters := []rune(strings.Join(strings.Fields(out.String()), " "))
	if len(letters) <= shownPlain {
		return string(letters)
	}
	return strings.TrimSpace(string(letters[:shownPlain])) + "…"
}
