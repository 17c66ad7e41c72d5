// Package patch merges a JSON merge patch (RFC 7396) into a typed value,
// member by member: objects are merged, everything else is replaced.
//
// It differs in one thing, which the API does everywhere: a null for what
// cannot be null leaves it alone. A null empties what can be null and removes
// an entry of a map.
package patch

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Keys is a map whose keys have several spellings.
type Keys interface {
	// Key is the spelling that the map has.
	Key(spelling string) string
}

// Error says which member of a patch does not fit.
type Error struct {
	// Path names the member: conversation.endpointMs.
	Path  string
	cause error
}

func (e *Error) Error() string { return e.Path + " does not have the form it needs" }

// Within is the error of the same member of a patch that is itself a member.
func (e *Error) Within(parent string) *Error {
	if e.Path == "" {
		return &Error{parent, e.cause}
	}
	return &Error{join(parent, e.Path), e.cause}
}

// Unwrap is what the decoder said.
func (e *Error) Unwrap() error { return e.cause }

// Merge merges a patch into what to points at. Members that it does not have
// are passed over. Lists and maps that it held before are never written to, so
// a copy of it stays as it was. The error is an [Error]; then it may be merged
// in part.
func Merge(to any, patch []byte) error {
	return merge(reflect.ValueOf(to).Elem(), patch, "")
}

var (
	textForm = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonForm = reflect.TypeFor[json.Unmarshaler]()
)

func merge(v reflect.Value, patch []byte, path string) error {
	null := string(patch) == "null"
	whole := v.Addr().Type()
	switch {
	case null && v.Kind() == reflect.Pointer:
		v.SetZero()
		return nil
	case null:
		return nil
	case whole.Implements(textForm), whole.Implements(jsonForm):
	case v.Kind() == reflect.Pointer && isObject(v.Type()):
		return mergePointer(v, patch, path)
	case v.Kind() == reflect.Struct:
		return mergeStruct(v, patch, path)
	case v.Kind() == reflect.Map:
		return mergeMap(v, patch, path)
	}
	fresh := reflect.New(v.Type())
	if err := json.Unmarshal(patch, fresh.Interface()); err != nil {
		return &Error{path, err}
	}
	v.Set(fresh.Elem())
	return nil
}

// isObject says whether a pointer's type is to a struct that is written as an object.
func isObject(pointer reflect.Type) bool {
	return pointer.Elem().Kind() == reflect.Struct && !pointer.Implements(textForm) && !pointer.Implements(jsonForm)
}

// mergePointer merges into a copy of what is pointed at; the original can be another's.
func mergePointer(v reflect.Value, patch []byte, path string) error {
	fresh := reflect.New(v.Type().Elem())
	if !v.IsNil() {
		fresh.Elem().Set(v.Elem())
	}
	if err := merge(fresh.Elem(), patch, path); err != nil {
		return err
	}
	v.Set(fresh)
	return nil
}

// members reads an object; the order is of the names, so that the same patch
// fails in the same place.
func members(patch []byte, path string) (names []string, values map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(patch, &values); err != nil {
		return nil, nil, &Error{path, err}
	}
	return slices.Sorted(maps.Keys(values)), values, nil
}

func mergeStruct(v reflect.Value, patch []byte, path string) error {
	names, values, err := members(patch, path)
	if err != nil {
		return err
	}
	for _, name := range names {
		field, ok := fieldNamed(v, name)
		if !ok {
			continue
		}
		if err := merge(field, values[name], join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// fieldNamed finds the field that has a name in JSON.
func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func mergeMap(v reflect.Value, patch []byte, path string) error {
	names, values, err := members(patch, path)
	if err != nil {
		return err
	}
	keys, _ := reflect.TypeAssert[Keys](v)
	seen := map[string]bool{}
	merged := reflect.MakeMap(v.Type())
	for _, key := range v.MapKeys() {
		merged.SetMapIndex(key, v.MapIndex(key))
	}
	for _, name := range names {
		key := name
		if keys != nil {
			key = keys.Key(name)
		}
		if seen[key] {
			return &Error{join(path, name), fmt.Errorf("%s is there twice", key)}
		}
		seen[key] = true
		if err := mergeEntry(merged, reflect.ValueOf(key), values[name], join(path, name)); err != nil {
			return err
		}
	}
	v.Set(merged)
	return nil
}

// mergeEntry merges an entry of a map; null removes it.
func mergeEntry(into, key reflect.Value, patch []byte, path string) error {
	if string(patch) == "null" {
		into.SetMapIndex(key, reflect.Value{})
		return nil
	}
	item := reflect.New(into.Type().Elem()).Elem()
	if old := into.MapIndex(key); old.IsValid() {
		item.Set(old)
	}
	if err := merge(item, patch, path); err != nil {
		return err
	}
	into.SetMapIndex(key, item)
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return fmt.Sprint(path, ".", name)
}
