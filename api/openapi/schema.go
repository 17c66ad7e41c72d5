package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// schema is the part of a JSON Schema that the page shows.
type schema struct {
	Ref         string            `json:"$ref"`
	Type        typeNames         `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Items       *schema           `json:"items"`
	AnyOf       []schema          `json:"anyOf"`
	OneOf       []schema          `json:"oneOf"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	MinLength   *int              `json:"minLength"`
	MaxLength   *int              `json:"maxLength"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
}

// typeNames is a schema's type: one name or several.
type typeNames []string

// UnmarshalJSON reads both forms.
func (t *typeNames) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// lastPart is the name that a reference ends in.
func lastPart(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// typeName says in a few words what a schema allows.
func (s schema) typeName() string {
	switch {
	case s.Ref != "":
		return lastPart(s.Ref)
	case len(s.OneOf)+len(s.AnyOf) > 0:
		var names []string
		for _, one := range append(s.OneOf, s.AnyOf...) {
			names = append(names, one.typeName())
		}
		return strings.Join(names, " or ")
	case s.Items != nil:
		return "list of " + s.Items.typeName()
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
		}
		return strings.Join(values, " | ")
	}
	name := strings.Join(s.Type, " or ")
	if s.Format != "" {
		name += " (" + s.Format + ")"
	}
	return name + s.bounds()
}

func (s schema) bounds() string {
	bounds := ""
	if s.MinLength != nil || s.MaxLength != nil {
		bounds = ", " + between(s.MinLength, s.MaxLength) + " characters"
	}
	if s.Minimum != nil || s.Maximum != nil {
		bounds += ", " + between(s.Minimum, s.Maximum)
	}
	return bounds
}

func between[N int | float64](low, high *N) string {
	switch {
	case high == nil:
		return fmt.Sprintf("from %v", *low)
	case low == nil:
		return fmt.Sprintf("at most %v", *high)
	}
	return fmt.Sprintf("%v to %v", *low, *high)
}
