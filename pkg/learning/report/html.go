package report

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed page.html
var pageText string

// pageTemplate is a page that needs nothing else and can be printed.
var pageTemplate = template.Must(template.New("report").Parse(pageText))

func (c *Content) html() ([]byte, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, v)
	return b.Bytes(), err
}
