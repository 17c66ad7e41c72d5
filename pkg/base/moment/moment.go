// Package moment writes the moments of a JSON text alike: in UTC and to the microsecond, always with six
// digits, so that they sort as texts and readers of a fixed form can take them.
package moment

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Layout is how a moment is written. Its zone is UTC; microseconds are what databases keep.
const Layout = "2006-01-02T15:04:05.000000Z"

// Format writes a moment.
func Format(t time.Time) string { return t.UTC().Format(Layout) }

// Places says where in a JSON text moments stand. In none nil says so; a text elsewhere that looks like a
// moment is somebody's own, and stays.
type Places struct {
	// here says that the value is a moment.
	here bool
	// members are those of an object, by name, and each is all others' of it, or the items of a list.
	members map[string]*Places
	each    *Places
}

// Named are the moments among the members of an object, by their names.
func Named(names ...string) *Places {
	p := &Places{members: map[string]*Places{}}
	for _, name := range names {
		p.members[name] = &Places{here: true}
	}
	return p
}

// Wrapper is a type with a JSON form of its own, which is that of another type or null.
type Wrapper interface{ Wraps() reflect.Type }

var (
	ofTime     = reflect.TypeFor[time.Time]()
	marshalers = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()}
	known      sync.Map
)

// Of finds where moments stand in the JSON of a type's values; nil for nowhere. Types with a JSON form of
// their own have none, but for those that are Wrappers.
func Of(t reflect.Type) *Places {
	if t == nil {
		return nil
	}
	if p, ok := known.Load(t); ok {
		return p.(*Places)
	}
	p := places(t, map[reflect.Type]*Places{})
	if !p.any(map[*Places]bool{}) {
		p = nil
	}
	known.Store(t, p)
	return p
}

// any says whether there is a moment in it.
func (p *Places) any(seen map[*Places]bool) bool {
	if p == nil || seen[p] {
		return false
	}
	seen[p] = true
	if p.here || p.each.any(seen) {
		return true
	}
	for _, m := range p.members {
		if m.any(seen) {
			return true
		}
	}
	return false
}

func places(t reflect.Type, seen map[reflect.Type]*Places) *Places {
	if p, ok := seen[t]; ok {
		return p
	}
	if t == ofTime {
		return &Places{here: true}
	}
	if w, ok := reflect.TypeAssert[Wrapper](reflect.Zero(t)); ok {
		return places(w.Wraps(), seen)
	}
	if t.Kind() == reflect.Pointer {
		return places(t.Elem(), seen)
	}
	if slices.ContainsFunc(marshalers, func(m reflect.Type) bool { return t.Implements(m) || reflect.PointerTo(t).Implements(m) }) {
		return nil
	}
	p := &Places{}
	seen[t] = p
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		p.each = places(t.Elem(), seen)
	case reflect.Struct:
		p.members = map[string]*Places{}
		p.addFields(t, seen)
	default:
	}
	return p
}

// addFields adds a struct's fields, by the names that they have in JSON.
func (p *Places) addFields(t reflect.Type, seen map[reflect.Type]*Places) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct && inner != ofTime:
			p.addFields(inner, seen)
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			p.members[name] = places(f.Type, seen)
		}
	}
}

// Marshal is json.Marshal with the moments as they are to be.
func Marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Of(reflect.TypeOf(v)).Write(text), nil
}

// Write is the text with its moments as they are to be. The text is valid JSON as encoding/json writes it.
func (p *Places) Write(text []byte) []byte {
	if p == nil {
		return text
	}
	w := writer{from: text, to: make([]byte, 0, len(text)+len(text)/8)}
	w.value(p)
	return append(w.to, w.from[w.copied:]...)
}

// writer reads a text, of which it has written what lies before copied.
type writer struct {
	from, to   []byte
	at, copied int
}

// value goes past a value.
func (w *writer) value(p *Places) {
	w.blank()
	switch w.from[w.at] {
	case '{':
		w.each('}', func() {
			w.blank()
			name := w.text()
			w.blank()
			w.at++ // the colon
			w.value(p.of(name))
		})
	case '[':
		w.each(']', func() { w.value(p.of(nil)) })
	case '"':
		from := w.at
		text := w.text()
		if p != nil && p.here {
			w.moment(from, text)
		}
	default:
		for w.at < len(w.from) && strings.IndexByte(",]} \n\t\r", w.from[w.at]) < 0 {
			w.at++
		}
	}
}

// each goes past the members of an object or the items of a list.
func (w *writer) each(end byte, one func()) {
	w.at++
	for {
		w.blank()
		if w.from[w.at] == end {
			w.at++
			return
		}
		if w.from[w.at] == ',' {
			w.at++
		}
		one()
	}
}

// of are the places in a member; a nil name is an item's.
func (p *Places) of(name []byte) *Places {
	if p == nil {
		return nil
	}
	if name != nil && p.members != nil {
		return p.members[string(name)]
	}
	return p.each
}

func (w *writer) blank() {
	for w.at < len(w.from) && (w.from[w.at] == ' ' || w.from[w.at] == '\n' || w.from[w.at] == '\t' || w.from[w.at] == '\r') {
		w.at++
	}
}

// text goes past a text and is what stands between its quotes, as it is written.
func (w *writer) text() []byte {
	w.at++
	from := w.at
	for w.from[w.at] != '"' {
		if w.from[w.at] == '\\' {
			w.at++
		}
		w.at++
	}
	w.at++
	return w.from[from : w.at-1]
}

// moment writes a moment in place of the text that begins at a place.
func (w *writer) moment(from int, text []byte) {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return // none that we wrote
	}
	w.to = append(w.to, w.from[w.copied:from+1]...)
	w.to = append(t.UTC().AppendFormat(w.to, Layout), '"')
	w.copied = w.at
}
