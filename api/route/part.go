package route

import (
	"encoding"
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
// the tag given:"always", which the items of lists cannot do without. An entry
// of a map can be null, which removes it.
func (Part[T]) Schema(r huma.Registry) *huma.Schema { return part(r, reflect.TypeFor[T]()) }

// PartNull is a Part that can be null, which empties it.
type PartNull[T any] struct{ Part[T] }

// Schema is that of the part, or null.
func (PartNull[T]) Schema(r huma.Registry) *huma.Schema {
	s := part(r, reflect.TypeFor[T]())
	s.Nullable = true
	s.PrecomputeMessages()
	return s
}

func part(r huma.Registry, t reflect.Type) *huma.Schema {
	s := *huma.SchemaFromType(r, t)
	switch {
	case isObject(t):
		s.Required, s.Properties = partOfStruct(r, t, s.Properties)
	case t.Kind() == reflect.Slice && isObject(t.Elem()):
		s.Items = part(r, t.Elem())
	case t.Kind() == reflect.Map && t.Elem().Kind() != reflect.Interface:
		entry := part(r, t.Elem())
		entry.Nullable = true
		entry.PrecomputeMessages()
		s.AdditionalProperties = entry
	}
	s.PrecomputeMessages()
	return &s
}

// isObject says whether values of a type are JSON objects with known members.
func isObject(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func partOfStruct(r huma.Registry, t reflect.Type, whole map[string]*huma.Schema) (required []string, properties map[string]*huma.Schema) {
	properties = map[string]*huma.Schema{}
	for f := range t.Fields() {
		name := f.Tag.Get("json")
		if f.Tag.Get("given") == "always" {
			required = append(required, name)
		}
		properties[name] = whole[name]
		if k := f.Type.Kind(); isObject(f.Type) || k == reflect.Slice && isObject(f.Type.Elem()) || k == reflect.Map {
			p := part(r, f.Type)
			// What the field's own tags say of it stays.
			p.MaxItems, p.MinItems, p.Description = whole[name].MaxItems, whole[name].MinItems, whole[name].Description
			p.PrecomputeMessages()
			properties[name] = p
		}
	}
	return required, properties
}
