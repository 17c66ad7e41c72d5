package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTag bounds what the tokenizer holds of a single tag, in bytes.
const maxTag = 1 << 20

// formatting are elements that a parser opens again in every block after the one they
// were left open in.
var formatting = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.Big: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Nobr: true,
	atom.S: true, atom.Small: true, atom.Strike: true, atom.Strong: true, atom.Tt: true, atom.U: true,
}

// surveyTags counts the nodes that a parser will make of a page, about, before it makes
// them: they take a hundred times the memory of their tags.
func surveyTags(page string) error {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(maxTag + len(page)/2)
	open, all := map[atom.Atom]int{}, 0
	for nodes := 0; nodes <= maxTags; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return nil
		}
		if kind == html.TextToken {
			nodes += all / 4
			continue
		}
		name, _ := z.TagName()
		tag := atom.Lookup(name)
		nodes++
		switch {
		case !formatting[tag]:
		case kind == html.StartTagToken:
			open[tag]++
			all++
		case kind == html.EndTagToken && open[tag] > 0:
			open[tag]--
			all--
		}
	}
	return ErrTooComplex
}
