package route

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Opt is a field of a PATCH body that may be absent.
type Opt[T any] struct {
	// Set says that the field was sent.
	Set   bool
	Value T
}

// UnmarshalJSON notes that the field was there. A null for what cannot be null is as if it were
// not: in a PATCH it was refused before.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" && reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return nil
	}
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}

// Ptr is the value as a pointer, nil when absent.
func (o Opt[T]) Ptr() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// Schema is that of the value.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// OptNull is a field of a PATCH body that may be absent or null. A null
// leaves Value nil.
type OptNull[T any] struct{ Opt[*T] }

// Schema is that of the value, or null.
func (o OptNull[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	if s.Ref != "" {
		return OrNull[T]{}.Schema(r) // an object is described elsewhere
	}
	s.Nullable = true
	return &s
}

// OrNull is an object of an answer that may be null.
type OrNull[T any] struct{ Value *T }

// MarshalJSON writes the object or null.
func (o OrNull[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// Schema allows both.
func (o OrNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// Null is what a nil pointer to it is in JSON, and nothing else is.
type Null struct{}

// Schema allows null alone.
func (Null) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }

// Object is a JSON object of an answer that is written as it is.
type Object json.RawMessage

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) { return o, nil }

// Schema allows any object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
