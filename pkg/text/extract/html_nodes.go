package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// furniture are elements that are not what a page says.
var furniture = map[atom.Atom]bool{
	atom.Head: true, atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Nav: true,
	atom.Header: true, atom.Footer: true, atom.Aside: true, atom.Form: false, atom.Button: true, atom.Select: true,
	atom.Textarea: true, atom.Input: true, atom.Svg: true, atom.Math: true, atom.Iframe: true, atom.Object: true,
	atom.Canvas: true, atom.Audio: true, atom.Video: true, atom.Dialog: true, atom.Datalist: true,
}

// blocks are elements whose text stands apart.
var blocks = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Blockquote: true, atom.Body: true, atom.Details: true, atom.Div: true,
	atom.Dl: true, atom.Fieldset: true, atom.Figcaption: true, atom.Figure: true, atom.Form: true, atom.Hr: true,
	atom.Html: true, atom.Main: true, atom.Ol: true, atom.P: true, atom.Pre: true, atom.Section: true, atom.Summary: true,
	atom.Table: true, atom.Td: true, atom.Th: true, atom.Tr: true, atom.Ul: true, atom.Caption: true, atom.Header: true,
}

// dropped says whether an element is furniture or hidden. A header within the main
// part holds its heading, and stays.
func dropped(n *html.Node) bool {
	if furniture[n.DataAtom] && (n.DataAtom != atom.Header || !withinMain(n)) {
		return true
	}
	switch strings.ToLower(attribute(n, "role")) {
	case "navigation", "banner", "contentinfo", "search", "complementary":
		return true
	}
	style := strings.ReplaceAll(strings.ToLower(attribute(n, "style")), " ", "")
	return has(n, "hidden") || attribute(n, "aria-hidden") == "true" ||
		strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

func withinMain(n *html.Node) bool {
	for p := range n.Ancestors() {
		if p.DataAtom == atom.Main || p.DataAtom == atom.Article {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// inner is all text under a node that is not dropped, blocks set apart by spaces.
func inner(n *html.Node) string {
	var out strings.Builder
	var walk func(*html.Node)
	walk = func(parent *html.Node) {
		for n := range parent.ChildNodes() {
			switch {
			case n.Type == html.TextNode:
				out.WriteString(n.Data)
			case n.Type == html.ElementNode && !dropped(n):
				if blocks[n.DataAtom] || n.DataAtom == atom.Br || n.DataAtom == atom.Li {
					out.WriteByte(' ')
				}
				walk(n)
				if blocks[n.DataAtom] {
					out.WriteByte(' ')
				}
			}
		}
	}
	walk(n)
	return out.String()
}
