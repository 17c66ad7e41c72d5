package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"slices"
	"strings"

	"visavis.dev/pkg/contract"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Version  contract.Version
	Versions []contract.Version
	Groups   []pageGroup
	Schemas  []pageSchema
}

type pageGroup struct {
	Name       string
	Operations []pageOperation
}

type pageOperation struct {
	ID, Method, Path, Summary, Description string
	Scope, Class, Since                    string
	Open                                   bool
	Parameters                             []pageField
	Body                                   string
	Answers                                []pageAnswer
}

type pageField struct {
	Name, In, Type, Description string
	Required                    bool
}

type pageAnswer struct{ Status, Description, Schema string }

type pageSchema struct {
	Name, Description string
	Fields            []pageField
}

// document is the part of an OpenAPI document that the page shows.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas    map[string]schema    `json:"schemas"`
		Parameters map[string]parameter `json:"parameters"`
	} `json:"components"`
}

type operation struct {
	OperationID string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Tags        []string    `json:"tags"`
	Scope       string      `json:"x-scope"`
	Class       string      `json:"x-rate-class"`
	Since       string      `json:"x-since"`
	Security    []any       `json:"security"`
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Description string `json:"description"`
		Content     map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Schema      schema `json:"schema"`
}

// Page makes the page of a contract's document.
func Page(raw []byte, v contract.Version) ([]byte, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	p := page{Version: v, Versions: contract.Versions(), Groups: doc.groups(), Schemas: doc.schemas()}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}

func (d *document) groups() []pageGroup {
	byName := map[string][]pageOperation{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			byName[o.Tags[0]] = append(byName[o.Tags[0]], d.show(o, strings.ToUpper(method), path))
		}
	}
	var groups []pageGroup
	for name, operations := range byName {
		slices.SortFunc(operations, func(a, b pageOperation) int {
			return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
		})
		groups = append(groups, pageGroup{name, operations})
	}
	slices.SortFunc(groups, func(a, b pageGroup) int { return strings.Compare(a.Name, b.Name) })
	return groups
}

func (d *document) show(o operation, method, path string) pageOperation {
	shown := pageOperation{
		ID: o.OperationID, Method: method, Path: path, Summary: o.Summary, Description: o.Description,
		Scope: o.Scope, Class: o.Class, Since: o.Since, Open: len(o.Security) == 0,
	}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[lastPart(p.Ref)]
		}
		shown.Parameters = append(shown.Parameters, pageField{p.Name, p.In, p.Schema.typeName(), p.Description, p.Required})
	}
	if o.RequestBody != nil {
		for _, content := range o.RequestBody.Content {
			shown.Body = content.Schema.typeName()
		}
	}
	for status, response := range o.Responses {
		answer := pageAnswer{Status: status, Description: response.Description}
		for _, content := range response.Content {
			answer.Schema = content.Schema.typeName()
		}
		shown.Answers = append(shown.Answers, answer)
	}
	slices.SortFunc(shown.Answers, func(a, b pageAnswer) int { return strings.Compare(a.Status, b.Status) })
	return shown
}

func (d *document) schemas() []pageSchema {
	var shown []pageSchema
	for name, s := range d.Components.Schemas {
		one := pageSchema{Name: name, Description: s.Description}
		for field, fs := range s.Properties {
			one.Fields = append(one.Fields, pageField{field, "", fs.typeName(), fs.Description, slices.Contains(s.Required, field)})
		}
		slices.SortFunc(one.Fields, func(a, b pageField) int { return strings.Compare(a.Name, b.Name) })
		shown = append(shown, one)
	}
	slices.SortFunc(shown, func(a, b pageSchema) int { return strings.Compare(a.Name, b.Name) })
	return shown
}
