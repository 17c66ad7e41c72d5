package route

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Part is a field of a body of which any part may be sent: objects are merged
// member by member, lists replaced (package patch). It only says what may be
// sent; the handler merges the body's bytes.
type Part[T any] struct{}

// UnmarshalJSON reads nothing: what is sent was held against the schema, and
// is merged from the bytes.
func (*Part[T]) UnmarshalJSON([]byte) error { return nil }

// MarshalJSON is never asked of an input.
func (Part[T]) MarshalJSON() ([]byte, error) { return json.Marshal(nil) }

// Schema is that of the value with nothing in it required, but for fields with
// the tag given:"always", which the items of lists cannot do without.
func (Part[T]) Schema(r huma.Registry) *huma.Schema { return part(r, reflect.TypeFor[T]()) }

func part(r huma.Registry, t reflect.Type) *huma.Schema {
	switch {
	case t.Kind() == reflect.Struct:
		return partOfStruct(r, t)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		s := &huma.Schema{Type: huma.TypeArray, Items: part(r, t.Elem())}
		s.PrecomputeMessages()
		return s
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: part(r, t.Elem())}
		s.PrecomputeMessages()
		return s
	}
	return huma.SchemaFromType(r, t)
}

func partOfStruct(r huma.Registry, t reflect.Type) *huma.Schema {
	s := *huma.SchemaFromType(r, t)
	s.Required = nil
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		if f.Tag.Get("given") == "always" {
			s.Required = append(s.Required, name)
		}
		if p, ok := s.Properties[name]; ok && (p.Ref != "" || p.Items != nil && p.Items.Ref != "") {
			s.Properties[name] = partOfField(r, f.Type, p)
		}
	}
	s.PrecomputeMessages()
	return &s
}

// partOfField keeps the bounds that the field's own tags gave.
func partOfField(r huma.Registry, t reflect.Type, whole *huma.Schema) *huma.Schema {
	p := part(r, t)
	p.MaxItems, p.MinItems, p.Description = whole.MaxItems, whole.MinItems, whole.Description
	p.PrecomputeMessages()
	return p
}
