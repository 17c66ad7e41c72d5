package route

import (
	"bytes"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

var moment = reflect.TypeFor[time.Time]()

// asKept cuts every moment in a body that was read to microseconds, which is what databases keep: a
// change is then answered as it is read again.
func asKept(v reflect.Value) {
	if !v.IsValid() || !hasMoments(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		asKept(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			asKept(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			one := reflect.New(v.Type().Elem()).Elem()
			one.Set(v.MapIndex(key))
			asKept(one)
			v.SetMapIndex(key, one)
		}
	case reflect.Struct:
		if v.Type() == moment {
			if t := v.Interface().(time.Time); v.CanSet() {
				v.Set(reflect.ValueOf(t.Truncate(time.Microsecond)))
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				asKept(v.Field(i))
			}
		}
	default:
	}
}

// withMoments remembers hasMoments by type.
var withMoments sync.Map

// hasMoments says whether a value of a type can hold a moment.
func hasMoments(t reflect.Type) bool {
	if known, ok := withMoments.Load(t); ok {
		return known.(bool)
	}
	has := reaches(t, map[reflect.Type]bool{})
	withMoments.Store(t, has)
	return has
}

func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == moment {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return reaches(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() && reaches(f.Type, seen) {
				return true
			}
		}
	default:
	}
	return false
}

// Moment is a moment of a query: an ISO date, which is midnight in UTC, or a date-time. The zero one was not given.
type Moment struct{ time.Time }

// UnmarshalText reads a moment.
func (m *Moment) UnmarshalText(text []byte) error {
	layout := time.RFC3339
	if !bytes.ContainsRune(text, 'T') {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, string(text))
	if err != nil || CheckTime("", t) != nil {
		return errNoMoment
	}
	m.Time = t
	return nil
}

// What is wrong with a query, huma tells after this.
const wrongValue = "invalid value: "

var errNoMoment = errors.New("must be an ISO 8601 date (2026-10-01) or date-time (2026-10-01T09:30:00Z)")

// Schema implements huma.SchemaProvider.
func (Moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Examples: []any{"2026-10-01"}}
}
