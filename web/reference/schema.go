package reference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is the part of a JSON Schema that the pages show.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 typeNames          `json:"type"`
	Format               string             `json:"format"`
	Description          string             `json:"description"`
	Enum                 []any              `json:"enum"`
	Const                any                `json:"const"`
	Default              any                `json:"default"`
	Examples             []any              `json:"examples"`
	Items                *schema            `json:"items"`
	AnyOf                []*schema          `json:"anyOf"`
	OneOf                []*schema          `json:"oneOf"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Required             []string           `json:"required"`
	ReadOnly             bool               `json:"readOnly"`
	MinLength            *int               `json:"minLength"`
	MaxLength            *int               `json:"maxLength"`
	MinItems             *int               `json:"minItems"`
	MaxItems             *int               `json:"maxItems"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
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

// field is a property as a page shows it.
type field struct {
	Name, Type, Description, Bounds, Default string
	Values                                   []string
	Required                                 bool
	// Object is the schema that the page shows elsewhere; empty for none.
	Object string
	// Fields are those within.
	Fields []field
}

// fields are the properties of a schema. Those of other schemas are among them
// when inline is set, but for one within itself; else they are named.
func (d *document) fields(s *schema, inline bool, within ...string) []field {
	s, within = d.deref(s, within)
	names := slices.Collect(maps.Keys(s.Properties))
	slices.SortFunc(names, func(a, b string) int {
		first := func(name string) int { return map[string]int{"id": -2, "name": -1}[name] }
		if c := first(a) - first(b); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	fields := make([]field, 0, len(names))
	for _, name := range names {
		f := d.field(name, s.Properties[name], inline, within)
		f.Required = slices.Contains(s.Required, name)
		fields = append(fields, f)
	}
	return fields
}

func (d *document) field(name string, s *schema, inline bool, within []string) field {
	f := field{Name: name, Type: s.typeName(), Description: s.Description, Bounds: s.bounds(), Values: s.values()}
	if s.Default != nil {
		f.Default = plain(s.Default)
	}
	inner := s.inner()
	if inner == nil {
		return f
	}
	ref := lastPart(inner.Ref)
	if inner.Ref != "" && (!inline || slices.Contains(within, ref)) {
		f.Object = ref
		return f
	}
	if f.Description == "" && inner.Ref != "" {
		f.Description = d.Components.Schemas[ref].Description
	}
	f.Fields = d.fields(inner, inline, within...)
	return f
}

// inner is the schema with the members of a value, of a list's items or of a
// map's entries; nil for none.
func (s *schema) inner() *schema {
	switch {
	case s.Ref != "" || len(s.Properties) > 0:
		return s
	case s.Items != nil:
		return s.Items.inner()
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		if found := one.inner(); found != nil {
			return found
		}
	}
	if entry := s.entry(); entry != nil {
		return entry.inner()
	}
	return nil
}

// entry is the schema of a map's entries; nil for no map.
func (s *schema) entry() *schema {
	if len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' {
		return nil
	}
	entry := &schema{}
	if json.Unmarshal(s.AdditionalProperties, entry) != nil {
		return nil
	}
	return entry
}

// deref follows a reference and notes it.
func (d *document) deref(s *schema, within []string) (*schema, []string) {
	if s.Ref == "" {
		return s, within
	}
	name := lastPart(s.Ref)
	return d.Components.Schemas[name], append(slices.Clone(within), name)
}

// typeName says in a few words what a schema allows.
func (s *schema) typeName() string {
	switch {
	case s.Ref != "":
		return lastPart(s.Ref)
	case len(s.OneOf)+len(s.AnyOf) > 0:
		var names []string
		for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
			names = append(names, one.typeName())
		}
		return strings.Join(names, " or ")
	case s.Items != nil:
		name := "list of " + s.Items.typeName()
		if slices.Contains(s.Type, "null") {
			name += " or null"
		}
		return name
	}
	if entry := s.entry(); entry != nil {
		return "map of " + entry.typeName()
	}
	name := strings.Join(s.Type, " or ")
	if s.Format != "" {
		name += " (" + s.Format + ")"
	}
	if name == "" {
		return "any value"
	}
	return name
}

// values are those that a schema allows, or names as examples.
func (s *schema) values() []string {
	of := s
	if s.Items != nil && len(s.Enum) == 0 {
		of = s.Items
	}
	var values []string
	for _, v := range of.Enum {
		values = append(values, plain(v))
	}
	if of.Const != nil {
		values = append(values, plain(of.Const))
	}
	return values
}

func plain(v any) string {
	if v == nil {
		return "null"
	}
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(text)
}

// bounds says how long or large a value may be.
func (s *schema) bounds() string {
	var bounds []string
	if s.MinLength != nil || s.MaxLength != nil {
		bounds = append(bounds, between(s.MinLength, s.MaxLength)+" characters")
	}
	if s.MinItems != nil || s.MaxItems != nil {
		bounds = append(bounds, between(s.MinItems, s.MaxItems)+" items")
	}
	if s.Minimum != nil || s.Maximum != nil {
		bounds = append(bounds, between(s.Minimum, s.Maximum))
	}
	return strings.Join(bounds, ", ")
}

func between[N int | float64](low, high *N) string {
	switch {
	case high == nil:
		return fmt.Sprintf("at least %v", *low)
	case low == nil:
		return fmt.Sprintf("at most %v", *high)
	}
	return fmt.Sprintf("%v to %v", *low, *high)
}
