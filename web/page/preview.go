package page

import (
	"cmp"
	"strings"
)

// preview is what others show of a page where somebody shares its address: search
// engines, chats and social networks (Open Graph).
type preview struct {
	// Description is a text without marks; empty for none.
	Description string
	// Address is the page's own, absolute, in whichever language.
	Address string
	// Picture is of who speaks, absolute; empty for none.
	Picture string
}

// preview makes the preview of the page at a path within the portal: described by the
// first of the texts that says something.
func (v *view) preview(path string, texts ...phrase) *preview {
	p := &preview{Address: strings.TrimSuffix(v.own()+path, "/")}
	for _, t := range texts {
		p.Description = cmp.Or(p.Description, plain(t.Text))
	}
	if !v.site.Speaker.Avatar.IsZero() {
		p.Picture = v.own() + portraitPath(v.site.Speaker)
	}
	return p
}
