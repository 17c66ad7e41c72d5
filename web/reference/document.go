package reference

import (
	"encoding/json"
	"slices"
	"strings"
)

// document is the part of an OpenAPI document that the pages show.
type document struct {
	Info struct {
		Description string `json:"description"`
	} `json:"info"`
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Webhooks   map[string]map[string]*operation `json:"webhooks"`
	Components struct {
		Schemas    map[string]*schema   `json:"schemas"`
		Parameters map[string]parameter `json:"parameters"`
		Responses  map[string]response  `json:"responses"`
	} `json:"components"`

	groups []*group
}

type operation struct {
	OperationID string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Tags        []string            `json:"tags"`
	Scope       string              `json:"x-scope"`
	Class       string              `json:"x-rate-class"`
	Since       string              `json:"x-since"`
	Security    []map[string]any    `json:"security"`
	Parameters  []parameter         `json:"parameters"`
	Body        *body               `json:"requestBody"`
	Responses   map[string]response `json:"responses"`

	method, path string
}

type body struct {
	Content  map[string]media `json:"content"`
	Required bool             `json:"required"`
}

type media struct {
	Schema  *schema         `json:"schema"`
	Example json.RawMessage `json:"example"`
}

type response struct {
	Ref         string           `json:"$ref"`
	Description string           `json:"description"`
	Content     map[string]media `json:"content"`
}

type parameter struct {
	Ref         string  `json:"$ref"`
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Schema      *schema `json:"schema"`
}

// group is a resource group and its operations.
type group struct {
	Name, Description, Slug string
	operations              []*operation
}

// eventsSlug is the page of the events that webhooks receive.
const eventsSlug = "event-types"

func readDocument(raw []byte) (*document, error) {
	d := &document{}
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, err
	}
	byTag := map[string]*group{}
	for _, tag := range d.Tags {
		g := &group{Name: tag.Name, Description: tag.Description, Slug: strings.ToLower(strings.ReplaceAll(tag.Name, " ", "-"))}
		byTag[tag.Name] = g
		d.groups = append(d.groups, g)
	}
	for path, methods := range d.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			g := byTag[o.Tags[0]]
			g.operations = append(g.operations, o)
		}
	}
	for _, g := range d.groups {
		slices.SortFunc(g.operations, compareOperations)
	}
	return d, nil
}

// compareOperations brings what reads before what changes of one path.
func compareOperations(a, b *operation) int {
	order := []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	// A noun of one word comes before those of several that begin as it does.
	if c := strings.Compare(strings.ReplaceAll(a.path, "-", "~"), strings.ReplaceAll(b.path, "-", "~")); c != 0 {
		return c
	}
	return slices.Index(order, a.method) - slices.Index(order, b.method)
}

// lastPart is the name that a reference ends in.
func lastPart(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// parameter follows a reference to a parameter.
func (d *document) parameter(p parameter) parameter {
	if p.Ref != "" {
		return d.Components.Parameters[lastPart(p.Ref)]
	}
	return p
}

// response follows a reference to an answer.
func (d *document) response(r response) response {
	if r.Ref != "" {
		return d.Components.Responses[lastPart(r.Ref)]
	}
	return r
}

// json is the operation's JSON body; nil for none.
func (o *operation) json() *media {
	if o.Body == nil {
		return nil
	}
	if m, ok := o.Body.Content["application/json"]; ok {
		return &m
	}
	return nil
}

// open says that no key is needed.
func (o *operation) open() bool {
	return len(o.Security) == 0 || slices.ContainsFunc(o.Security, func(s map[string]any) bool { return len(s) == 0 })
}
