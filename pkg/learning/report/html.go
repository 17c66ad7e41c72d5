package report

import (
	"bytes"
	"embed"
	"html/template"
)

//go:embed page.html group.html style.html
var pages embed.FS

// pageTemplates are pages that need nothing else and can be printed.
var pageTemplates = template.Must(template.ParseFS(pages, "*.html"))

func (c *Content) html() ([]byte, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pageTemplates.ExecuteTemplate(&b, "page.html", v)
	return b.Bytes(), err
}

func (c *Group) html() ([]byte, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pageTemplates.ExecuteTemplate(&b, "group.html", v)
	return b.Bytes(), err
}
