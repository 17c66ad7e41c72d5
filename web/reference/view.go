package reference

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"slices"
	"strings"
)

//go:embed assets/page.html
var pageFile embed.FS

var pageTemplate = template.Must(template.New("page.html").ParseFS(pageFile, "assets/page.html"))

// view is what a page shows.
type view struct {
	Version  string
	Versions []string
	// Base is the path of the contract's first page, Slug the page below it.
	Base, Slug, Title, Description string
	Groups                         []*group
	Operations                     []shownOperation
	Events                         []shownEvent
	Objects                        []shownObject
}

// shownOperation is an operation as its group's page shows it.
type shownOperation struct {
	ID, Method, Path, Summary, Description string
	Scope, Class, Since                    string
	Open                                   bool
	Parameters                             []field
	Body                                   []field
	BodyNote                               string
	Example                                string
	Answers                                []shownAnswer
	Samples                                []sample
}

// shownAnswer is an answer; Object is the schema of its data.
type shownAnswer struct{ Status, Description, Object string }

// shownEvent is a type of event as webhooks receive it.
type shownEvent struct {
	Type, Description, Scope, Since, Example string
	Data                                     []field
}

// shownObject is a schema that a page's answers hold.
type shownObject struct {
	Name, Description string
	Fields            []field
}

func (p *view) html() ([]byte, error) {
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}

// Entries are what the navigation shows of a group.
func (g *group) Entries() []shownOperation {
	entries := make([]shownOperation, len(g.operations))
	for i, o := range g.operations {
		entries[i] = shownOperation{ID: o.OperationID, Method: o.method, Path: o.path, Summary: o.Summary}
	}
	return entries
}

// view is the page of a slug: the first one, a group's, or the events'; nil for
// none.
func (d *document) view(slug string) *view {
	v := &view{Slug: slug, Groups: d.groups}
	switch i := slices.IndexFunc(d.groups, func(g *group) bool { return g.Slug == slug }); {
	case slug == "":
		v.Title, v.Description = "Visavis API", d.Info.Description
	case slug == eventsSlug:
		v.Title, v.Description = "Event types", "What webhooks receive, and what the event log holds: one type of event for everything that happens."
		v.Events = d.events()
	case i < 0:
		return nil
	default:
		v.Title, v.Description = d.groups[i].Name, d.groups[i].Description
		for _, o := range d.groups[i].operations {
			v.Operations = append(v.Operations, d.show(o))
		}
		v.Objects = d.objects(v.Operations)
	}
	return v
}

func (d *document) show(o *operation) shownOperation {
	shown := shownOperation{
		ID: o.OperationID, Method: o.method, Path: o.path, Summary: o.Summary, Description: o.Description,
		Scope: o.Scope, Class: o.Class, Since: o.Since, Open: o.open(), Samples: d.samples(o),
	}
	for _, p := range o.Parameters {
		p = d.parameter(p)
		f := d.field(p.Name, p.Schema, true, nil)
		f.Description, f.Required, f.Type = p.Description, p.Required, p.In+", "+f.Type
		shown.Parameters = append(shown.Parameters, f)
	}
	if m := o.json(); m != nil {
		shown.Body, shown.Example = d.fields(m.Schema, true), pretty(m.Example)
		if !o.Body.Required {
			shown.BodyNote = "The body may be left out."
		}
		if form, ok := o.Body.Content["multipart/form-data"]; ok {
			names := slices.Sorted(maps.Keys(form.Schema.Properties))
			shown.BodyNote = "It can be sent as a form (multipart/form-data) too, with the fields " + strings.Join(names, ", ") + "."
		}
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := d.response(o.Responses[status])
		answer := shownAnswer{Status: status, Description: r.Description}
		if status < "4" {
			answer.Object = d.dataOf(r)
		}
		shown.Answers = append(shown.Answers, answer)
	}
	return shown
}

// dataOf names the schema of an answer's data, or of the items of its list;
// empty for an answer that is not JSON.
func (d *document) dataOf(r response) string {
	m, ok := r.Content["application/json"]
	if !ok || m.Schema == nil || m.Schema.Ref == "" {
		return ""
	}
	data := d.Components.Schemas[lastPart(m.Schema.Ref)].Properties["data"]
	if data == nil {
		return ""
	}
	if inner := data.inner(); inner != nil && inner.Ref != "" {
		return lastPart(inner.Ref)
	}
	return ""
}

// objects are the schemas that answers hold, and those that these hold.
func (d *document) objects(operations []shownOperation) []shownObject {
	shown := map[string]shownObject{}
	var add func(name string)
	add = func(name string) {
		if _, ok := shown[name]; ok || name == "" {
			return
		}
		s := d.Components.Schemas[name]
		o := shownObject{Name: name, Description: s.Description, Fields: d.fields(s, false)}
		shown[name] = o
		eachObject(o.Fields, add)
	}
	for _, o := range operations {
		for _, a := range o.Answers {
			add(a.Object)
		}
		eachObject(o.Body, add)
		eachObject(o.Parameters, add)
	}
	return slices.SortedFunc(maps.Values(shown), func(a, b shownObject) int { return strings.Compare(a.Name, b.Name) })
}

// eachObject calls f with every schema that fields name.
func eachObject(fields []field, f func(name string)) {
	for _, one := range fields {
		if one.Object != "" {
			f(one.Object)
		}
		eachObject(one.Fields, f)
	}
}

func (d *document) events() []shownEvent {
	var shown []shownEvent
	for _, name := range slices.Sorted(maps.Keys(d.Webhooks)) {
		o := d.Webhooks[name]["post"]
		m := o.json()
		shown = append(shown, shownEvent{
			Type: name, Description: o.Description, Scope: o.Scope, Since: o.Since, Example: pretty(m.Example),
			Data: d.fields(m.Schema.Properties["data"], true),
		})
	}
	return shown
}

// pretty indents JSON text.
func pretty(text json.RawMessage) string {
	var out bytes.Buffer
	if len(text) == 0 || json.Indent(&out, text, "", "  ") != nil {
		return ""
	}
	return out.String()
}
