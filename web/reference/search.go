package reference

import (
	"encoding/json"
	"strings"
)

// hit is something that can be found.
type hit struct {
	// Title is what to show first: a method and a path, or an event's type.
	Title string `json:"title"`
	// Text is what it does; Words are more to find it by.
	Text  string `json:"text"`
	Words string `json:"words"`
	Group string `json:"group"`
	URL   string `json:"url"`
}

// index is everything that can be found in a contract's pages, as JSON. base is
// the path of its first page.
func (d *document) index(base string) ([]byte, error) {
	var hits []hit
	for _, g := range d.groups {
		for _, o := range g.operations {
			words := []string{o.OperationID, o.Scope, o.Description}
			if m := o.json(); m != nil {
				for _, f := range d.fields(m.Schema, false) {
					words = append(words, f.Name)
				}
			}
			hits = append(hits, hit{o.method + " " + o.path, o.Summary, strings.Join(words, " "), g.Name, base + "/" + g.Slug + "#" + o.OperationID})
		}
	}
	for _, e := range d.events() {
		hits = append(hits, hit{e.Type, e.Description, "event webhook " + e.Scope, "Event types", base + "/" + eventsSlug + "#" + e.Type})
	}
	return json.Marshal(hits)
}
